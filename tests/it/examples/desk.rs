//! A device with a real agent and engine, and all that its owner does with it.

use super::example::{Example, example};

/// Registers this machine, in each way.
pub(super) const REGISTER: &[Example] = &[
    example("link register --registration-key lrk_… --backend https://link.example")
        .shows("registered as dev_"),
    example("link register").shows("registered as dev_"),
    example("link register --registration-key -")
        .after("link key create --kind registration > key.txt")
        .typed(&[("key: ", "<key.txt")])
        .shows("registered as dev_"),
    example("link register --registration-key - < key.txt")
        .after("link key create --kind registration > key.txt")
        .shows("registered as dev_"),
    example("LINK_FLEET_KEY_FILE=key.txt link register")
        .after("link key create --kind fleet > key.txt")
        .shows("registered as dev_"),
    example("link register --email you@example.com")
        .typed(&[("Password: ", "<password.txt")])
        .shows("registered as dev_"),
    example("link login && link register")
        .typed(&[("E-mail", "you@example.com\r"), ("Password: ", "<password.txt")])
        .shows("registered as dev_"),
    // The backend gets every log record of this agent, and not only warnings.
    example("link start")
        .after(
            "echo '{\"schema_version\": \"2.1\", \"logging\": {\"handlers\":
                [{\"type\": \"http\", \"args\": {\"level\": \"info\"}}, {\"type\": \"console\"}]}}' \
                > $PLACE/you/config/agent.json",
        )
        .shows("the agent is running"),
];

/// With the device `workstation`, which has the tag `lab`.
pub(super) const DEVICE: &[Example] = &[
    example("link status")
        .after(
            "link device rename $(link device list | grep -o 'dev_[0-9a-f]*') workstation
             link device tag workstation lab",
        )
        .shows("https://link.example (connected"),
    example("link status --json").shows("{"),
    example("link doctor").shows("agent: it runs"),
    example("link doctor --fix").shows("agent: it runs"),
    example("link doctor --origin https://workspace.example").shows("origin:"),
    example("link doctor --json").shows("\"worst\""),
    example("link status --watch").shows("online (connected, http)").interrupted(),
    example("link device list").shows("workstation"),
    example("link device list --watch").shows("workstation").interrupted(),
    example("link device list --search rack7").shows("no device has `rack7` in its name"),
    example("link device list --select 'tag=lab,version<1.3.0,state=online'")
        .shows("no device matches the selection"),
    example("link device list --select 'update=rolled_back'")
        .shows("no device matches the selection"),
    example("link device list --select state=offline --sort last_seen")
        .shows("no device matches the selection"),
    example("link device show").shows("workstation"),
    example("link device show workstation").shows("workstation"),
    example("link device tag workstation lab second-floor").shows("lab, second-floor"),
    example("link device untag workstation lab").shows("tags of workstation: second-floor"),
    example("link device tag lab --select tag=home")
        .after("link device tag workstation home")
        .shows("op_"),
    example("link device untag lab --select tag=home")
        .after("link operation wait $(link operation list | grep -o 'op_[0-9a-f]*')")
        .shows("op_"),
    example("link device rename workstation second-floor")
        .after(
            "link operation wait $(link operation list | grep -o 'op_[0-9a-f]*' | head -n 1)
             link device tag workstation lab",
        )
        .shows("to second-floor"),
    example("link device rename 'lab-{n}' --select tag=lab --dry-run").shows("second-floor"),
    example("link device rename '{hostname}' --select tag=lab --wait").shows("succeeded"),
    example("link fleet list")
        .after("link device rename $(link device list | grep -o 'dev_[0-9a-f]*') workstation")
        .shows("lab"),
    example("link fleet show lab").shows("workstation"),
    example("link audit --subject dev_… --limit 200 --json").shows("device."),
    example("link usage").shows("no usage in this period"),
    example("link usage --by device --since today").shows("no usage in this period"),
];

/// Adds models and serves them.
pub(super) const MODELS: &[Example] = &[
    example("link model search small apache").shows("smollm2-135m"),
    example("link model add smollm2-135m").shows("mdl_"),
    example("link model add hf:owner/repo/smollm.gguf").shows("added `smollm`"),
    example("link model add --url https://models.example/smollm.gguf --sha256 2c26…b0d4")
        .after("link model delete smollm")
        .shows("added `smollm`"),
    example("link model add ./smollm.gguf --name smollm --shared")
        .after("link model delete smollm")
        .shows("added `smollm`"),
    example("link model add ./smollm.gguf")
        .after("link model delete smollm")
        .shows("added `smollm`"),
    example("link model add ./smollm.gguf --name smollm")
        .after("link model delete smollm")
        .shows("added `smollm`"),
    example("link model list").shows("smollm"),
    example("link usage --model smollm --since 7d --json").shows("\"group_by\": \"model\""),
    example("link model show smollm").shows("smollm.gguf"),
    example("link model deploy smollm --serve --wait")
        .after("link model deploy smollm --port $MODEL_PORT --wait")
        .shows("serving"),
    example("link model deploy smollm --select tag=lab --serve --wait").shows("succeeded"),
    example("link model deploy smollm --set context=8192 --serve --wait").shows("deployed"),
    example("link model deploy bob/llama")
        .after(
            "link-backend create-account bob@example.com --data backend/data < password.txt
             export LINK_HOME=$PLACE/bob
             link login --email bob@example.com --password-stdin --backend https://link.example \
                 < password.txt
             link model add ./smollm.gguf --name llama --shared",
        )
        .shows("`bob/llama` (shared by bob)"),
    example("link repair-serving smollm --wait").shows("repair"),
    example("link repair-serving smollm --select tag=lab,state=online --wait").shows("succeeded"),
    example("link repair-serving smollm --device workstation --port 8081 --wait --timeout 2m")
        .shows("repair"),
    example("link model stop smollm --select tag=lab --dry-run").shows("workstation"),
    example("link model stop smollm --wait").shows("stop"),
    example("link model serve smollm --wait").shows("serve"),
    example("link model serve smollm --select tag=lab --wait").shows("succeeded"),
    example("link chat smollm \"Why is the sky blue?\"").shows(REPLY),
    example("link chat smollm \"Summarize this:\" < report.txt")
        .after("echo 'All is well.' > report.txt")
        .shows(REPLY),
    example("link chat").typed(LEAVE).shows("chatting with `smollm`"),
    example("link chat smollm").typed(LEAVE).shows("chatting with `smollm`"),
    example("link chat smollm --system \"Answer in one sentence.\" --temperature 0.2")
        .typed(LEAVE)
        .shows("chatting with `smollm`"),
    example("link run smollm \"Why is the sky blue?\"").shows(REPLY),
    example("link run smollm").typed(LEAVE).shows("chatting with `smollm`"),
    example("link run ./smollm.gguf").typed(LEAVE).shows("chatting with `smollm`"),
    example("link run smollm2-135m")
        .after("link model deploy smollm2-135m --port $BACKEND_PORT --wait")
        .typed(LEAVE)
        .shows("chatting with `smollm2-135m`"),
    example("link model deploy smollm --device workstation --port 8081 --alias chat --wait --timeout 1h")
        .shows("smollm"),
    example("link logs").shows("info"),
    example("link logs workstation --follow").shows("info").interrupted(),
    example("link logs workstation --severity warning --model smollm").shows("no matching records"),
    example("link logs --local --follow").shows("agent").interrupted(),
    example("link logs --local --model smollm --severity warning").shows("no matching lines"),
    example("link support --list").shows("doctor.txt"),
    example("link support --yes --out support.tar.gz").shows("support.tar.gz"),
    example("link support").typed(&[("Write these", "n")]).shows("doctor.txt"),
    example("link commands list --device workstation --limit 10").shows("cmd_"),
    example("link commands list --open").shows("no commands"),
    example("link commands list --type REPAIR_SERVING").shows("cmd_"),
    example("link commands show cmd_…").shows("Result"),
    example("link commands explain cmd_…").shows("Next: "),
];

/// While the agent is stopped, and after it runs again.
pub(super) const OFFLINE: &[Example] = &[
    example("link restart").shows("restarted the agent"),
    example("link operation wait op_0198d2f0c3a17b5f8a6e4d2c1b0a9f8e").shows("succeeded"),
    example("link operation wait op_0198d2f0c3a17b5f8a6e4d2c1b0a9f8e --timeout 2h --json")
        .shows("\"succeeded\""),
    example("link stop").shows("stopped the agent"),
    example("link model cancel smollm").after("link model deploy smollm").shows("cancelled the deployment of `smollm`"),
    example("link operation show op_0198d2f0c3a17b5f8a6e4d2c1b0a9f8e")
        .after("link repair-serving smollm --select tag=lab --wait || [ $? = 1 ]")
        .shows("device-offline"),
    example("link operation show op_0198d2f0c3a17b5f8a6e4d2c1b0a9f8e --state failed --json")
        .shows("device-offline"),
    example("link operation retry op_0198d2f0c3a17b5f8a6e4d2c1b0a9f8e").shows("op_"),
    example("link operation retry op_0198d2f0c3a17b5f8a6e4d2c1b0a9f8e --wait --timeout 1h")
        .after(
            "link operation wait $(link operation list | grep -o 'op_[0-9a-f]*' | head -n 1) || [ $? = 1 ]
             link start",
        )
        .shows("succeeded"),
    example("link operation list --limit 10").shows("repair"),
    example("link operation cancel op_0198d2f0c3a17b5f8a6e4d2c1b0a9f8e")
        .after("link stop; link model stop smollm --select tag=lab")
        .shows("sends no further command"),
    example("link model remove smollm --device workstation --wait").after("link start").shows("remove"),
    example("link model remove smollm --select tag=lab --wait")
        .after("link model deploy smollm --wait")
        .shows("succeeded"),
    example("link model delete smollm")
        .typed(&[("Delete `smollm` and its file", "y")])
        .shows("deleted `smollm`"),
];

/// Installs engines.
pub(super) const ENGINES: &[Example] = &[
    example("link engine list").shows("b10068"),
    example("link engine install ./llama.cpp/build/bin").shows("installed the build b8808"),
    example("link engine remove b8808")
        .after("link engine install ./llama.cpp/build/bin --build b1")
        .shows("removed the build b8808"),
    example("link engine install ./llama-b9789-bin-ubuntu-x64.tar.gz --sha256 2c26…b0d4")
        .given(&[("2c26…b0d4", "sha256sum ./llama-b9789-bin-ubuntu-x64.tar.gz | cut -c 1-64")])
        .after("tar -czf llama-b9789-bin-ubuntu-x64.tar.gz -C llama.cpp/build bin")
        .shows("installed the build"),
    example("link engine trust ./engines.pub").shows("trusting indexes of engines"),
    example("link engine trust --list"),
    example("link engine install").shows("installed the build b9789"),
    example("link engine install --build b9789").shows("installed the build b9789"),
    example("link engine use b8808")
        .after("link engine install ./llama.cpp/build/bin --build b8808; link engine install")
        .shows("models use the build b8808"),
    example("link engine use v1.8.4 --plugin audio_transcriber")
        .after(
            "mkdir whisper; printf '#!/bin/sh\\n' > whisper/whisper-server; chmod +x whisper/whisper-server; \
             link engine install ./whisper --build v1.8.4 --plugin audio_transcriber",
        )
        .shows("models use the build v1.8.4"),
    example("link engine trust --remove 3f2a90c1d4e5b678")
        .given(&[("3f2a90c1d4e5b678", "link engine trust --list")])
        .shows("is no longer trusted"),
];

/// Shows, installs and removes plugins.
pub(super) const PLUGINS: &[Example] = &[
    example("link plugin list").shows("language_model"),
    example("link plugin show language_model").shows("llama-server"),
    example("link plugin new echo").shows("wrote the plugin `echo`"),
    example("link plugin new echo --language rust")
        .after("rm -r echo")
        .shows("cargo build --release"),
    example("link plugin check ./my_plugin").shows("is a usable plugin"),
    example("link plugin check ./my_plugin --timeout 10s").shows("the engine was not tested"),
    example("link plugin install ./my_plugin").shows("installed the plugin my_plugin"),
    example("link plugin remove my_plugin").shows("removed the plugin my_plugin"),
    example("link plugin key ./publisher.key > publisher.pub").shows("made the key"),
    example("link plugin pack ./my_plugin --sign-with ./publisher.key")
        .after("sed -i 's/^version.*/version = \"1.0.0\"/' my_plugin/plugin.toml")
        .shows("packed the plugin my_plugin 1.0.0"),
    example("link plugin pack ./my_plugin --sign-with ./publisher.key --out ./site")
        .after("mkdir site")
        .shows("packed the plugin my_plugin 1.0.0"),
    example("link plugin trust ./publisher.pub").shows("trusting archives of plugins"),
    example("link plugin install ./my_plugin-1.0.0.tar.gz").shows("signed by the key"),
    example("link plugin install my_plugin --source https://plugins.example/site")
        .given(&[("https://plugins.example/site", "echo file://$PWD/site")])
        .after("mkdir -p site; cp my_plugin-1.0.0.tar.gz* my_plugin.signature.json site")
        .shows("signed by the key"),
    example("link plugin trust hCwvQH6Jt3LUkGw9pfq8xD1zA7VnS0mEo2RiBy5KcXs")
        .shows("trusting archives of plugins"),
    example("link plugin trust --list"),
    example("link plugin trust --remove 3f2a90c1d4e5b678")
        .given(&[("3f2a90c1d4e5b678", "link plugin trust --list | head -n 1")])
        .shows("is no longer trusted"),
];

/// The answer of the tiny model.
const REPLY: &str = "Hello from a tiny local model";

/// Ctrl-D at the prompt.
const LEAVE: &[(&str, &str)] = &[(">>> ", "\u{4}")];
