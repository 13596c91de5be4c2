//! The compiled `link` command as a person and a script meet it.

#![expect(clippy::disallowed_methods, reason = "tests run programs and look at a scratch home")]

#[cfg(test)]
mod command_line;
#[cfg(test)]
mod fleet;
#[cfg(test)]
mod install_script;
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
mod register;
#[cfg(test)]
mod release;
#[cfg(test)]
mod status;
#[cfg(test)]
mod support;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod texts;
#[cfg(test)]
mod transfer;
#[cfg(test)]
mod waiting;
