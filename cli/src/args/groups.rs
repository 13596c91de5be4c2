//! Examples of the commands that only group others, in the order in which a person needs them.

pub(super) const ACCOUNT: &str = "\
Examples:
  link account create --backend https://link.example
  link account list
  link account password";

pub(super) const MEMBER: &str = "\
Examples:
  link member list
  link member invite --role operator
  link member remove bob@example.com";

pub(super) const TOKEN: &str = "\
Examples:
  link token create --name ci --scope devices:read --scope serving:operate
  link token list";

pub(super) const KEY: &str = "\
Examples:
  link key create --kind registration
  link key create --kind fleet --name lab --max-devices 20 --expires-at 30d
  link key list";

pub(super) const DEVICE: &str = "\
Examples:
  link device list
  link device show workstation
  link device tag workstation lab second-floor
  link device update workstation --to 1.4.0 --wait";

pub(super) const FLEET: &str = "\
Examples:
  link fleet list
  link fleet show lab";

pub(super) const COMMANDS: &str = "\
Examples:
  link commands list --open
  link commands list --device workstation --limit 10";

pub(super) const OPERATION: &str = "\
Examples:
  link operation list --limit 10
  link operation wait op_0198d2f0c3a17b5f8a6e4d2c1b0a9f8e
  link operation retry op_0198d2f0c3a17b5f8a6e4d2c1b0a9f8e --wait --timeout 1h";

pub(super) const MODEL: &str = "\
Examples:
  link model add ./smollm.gguf --name smollm --shared
  link model deploy smollm --serve --wait
  link model list
  link model show smollm";

pub(super) const ENGINE: &str = "\
Examples:
  link engine install
  link engine list";

pub(super) const PLUGIN: &str = "\
Examples:
  link plugin list
  link plugin show language_model
  link plugin install ./my_plugin";

pub(super) const ALLOWLIST: &str = "\
Examples:
  link allowlist list
  link allowlist add https://workspace.example";
