//! Has Cargo embed the pages of `web/` again when they are built again. A debug build reads them at run time instead.

#![expect(
    clippy::disallowed_methods,
    reason = "Cargo tells a build script the profile by the environment"
)]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        println!("cargo::rerun-if-changed=../web/dist");
    }
}
