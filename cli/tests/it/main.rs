//! Tests of the compiled `link` command, as persons and scripts use it.

#![expect(clippy::disallowed_methods, reason = "tests run programs and look at a scratch home")]

#[cfg(test)]
mod command_line;
#[cfg(test)]
mod completion;
#[cfg(test)]
mod destructive;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod fleet;
#[cfg(test)]
mod install_script;
#[cfg(test)]
mod live;
#[cfg(test)]
mod login;
#[cfg(test)]
mod logs;
#[cfg(test)]
mod member;
#[cfg(test)]
mod names;
mod operation;
#[cfg(test)]
mod powershell_script;
#[cfg(test)]
mod prompts;
#[cfg(test)]
mod register;
#[cfg(test)]
mod release;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod status;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tables;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod transfer;
#[cfg(test)]
mod waiting;
