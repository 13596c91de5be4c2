//! Has Cargo embed the pages of `web/` again when they are built again. A debug build reads them at run time instead.

#![expect(clippy::print_stdout, reason = "a build script talks to Cargo through its output")]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        println!("cargo::rerun-if-changed=../web/dist");
    }
}
