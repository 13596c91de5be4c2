//! `link up`: the own backend of a person.

use super::example::{Example, example};

pub(super) const OWN_BACKEND: &[Example] = &[
    example("link up").shows("/workspace"),
    example("link up --port 8100").shows("backend: started"),
    example("link up && link run ./smollm.gguf \"Why is the sky blue?\"")
        // After a change of the backend's port, the agent restarts to follow it.
        .after(
            "timeout 30 sh -c 'until link status; do sleep 0.1; done'
             link run ./smollm.gguf --port $MODEL_PORT Hello",
        )
        .shows("Hello from a tiny local model"),
    example("link open").after("rm -f opened").shows("browser"),
    example("link open --print").after("[ -s opened ]").shows("/workspace#code="),
    example("link account password")
        .typed(&[("New password", "<password.txt"), ("Repeat password", "<password.txt")])
        .shows("can log in at"),
    example("link account password --password-stdin < password.txt").shows("can log in at"),
    example("link down").shows("stopped the backend"),
    example("link down --purge")
        .after("link up")
        .typed(&[("Type `", "purge\r")])
        .shows("deleted the backend and its data"),
    example("link down --purge --yes").after("link up").shows("deleted the backend and its data"),
];
