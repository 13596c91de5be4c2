//! Examples and longer texts of `--help`.

pub(super) const UPDATE_EXAMPLES: &str = "Examples:
  link update
  link update --check
  link update --to 1.4.0

The new version is verified and checked before it runs, and is on trial for two minutes: when it
fails, the version before comes back by itself.";
pub(super) const UNINSTALL_EXAMPLES: &str = "\
Examples:
  link uninstall
  link uninstall --yes

While the backend cannot be told, nothing is deleted. With --force everything is, and a retire code
is printed: `link device retire CODE`, or the dashboard, frees the device's slot with it.";

pub(super) const REPAIR_EXAMPLES: &str = "\
Examples:
  link repair-serving smollm --wait
  link repair-serving smollm --device workstation --port 8081 --wait --timeout 2m
  link repair-serving smollm --select tag=lab,state=online --wait

The model keeps running: weights, parameters and port stay as they are. It exits with 0 once the
device has done it, 1 if the device failed, 77 if the backend refused, 75 if it gave up waiting.";

const EXAMPLES: &str = "\
Examples:
  link up                                           a backend of your own, on this machine
  link run ./smollm.gguf                            chat in the terminal
  link open                                         the same in the browser
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
  LINK_ACCESS_TOKEN       personal access token for scripts, in place of a login
  LINK_HOME               folder that holds everything, in place of the user's usual folders
  NO_COLOR                no colours";

pub(super) fn long_help() -> String {
    format!("{EXAMPLES}\n\n{}", link_protocol::exit_code::table())
}
