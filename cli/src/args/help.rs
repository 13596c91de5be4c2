//! Examples and longer texts of `--help`.

pub(super) const UPDATE_EXAMPLES: &str = "Examples:
  link update
  link update --check
  link update --to 1.4.0

The new version is verified before it runs, and is on trial for two minutes: if it fails, Link restores
the previous version.";
pub(super) const UNINSTALL_EXAMPLES: &str = "\
Examples:
  link uninstall
  link uninstall --yes

While the backend is unreachable, nothing is deleted. With --force everything is deleted, and a retire
code is printed: with it, `link device retire CODE` or the dashboard removes the device from its account.";

pub(super) const REPAIR_EXAMPLES: &str = "\
Examples:
  link repair-serving smollm --wait
  link repair-serving smollm --device workstation --port 8081 --wait --timeout 2m
  link repair-serving smollm --select tag=lab,state=online --wait

The model keeps running with the same weights, parameters and port. With --wait the exit code is 0 once
the device has finished, 1 if the device failed, 77 if the backend refused, 75 after the timeout. With
--select, an offline device fails; `link operation retry ID` repairs the failed devices later.";

const EXAMPLES: &str = "\
Examples:
  link up                                           start your own backend on this machine
  link run ./smollm.gguf                            chat in the terminal
  link open                                         chat in the browser
  link login --email you@example.com --backend https://link.example
  link register                                     register this machine
  link model add ./smollm.gguf --name smollm
  link model deploy smollm --serve --wait
  link status
  link repair-serving smollm --wait

Environment:
  LINK_BACKEND_URL        address of the backend
  LINK_REGISTRATION_KEY   key for `link register`
  LINK_FLEET_KEY          key for `link register`, for many devices
  LINK_REGISTRATION_KEY_FILE, LINK_FLEET_KEY_FILE
                          file that holds the key, instead of the key itself
  LINK_ACCESS_TOKEN       personal access token for scripts, instead of a login
  LINK_HOME               folder for all files, instead of the user's usual folders
  NO_COLOR                no colours";

pub(super) fn long_help() -> String {
    format!("{EXAMPLES}\n\n{}", link_protocol::exit_code::table())
}
