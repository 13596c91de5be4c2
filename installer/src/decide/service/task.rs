//! The text of the scheduled task of a user on Windows. Pure.
//!
//! The task runs only while the user is logged on: Windows offers no more without an administrator.
//! The guard restarts the agent. The scheduler restarts the guard, after a failure and every five
//! minutes. The task allows parallel instances: with the policy to ignore new instances, a
//! scheduler that believes in a running instance that has in fact ended would start nothing any
//! more. A second guard ends at once.
//!
//! Windows replaces `%NAME%` in the path of a program if that variable exists, and offers no way to
//! escape it.

use std::path::PathBuf;

use super::xml::escaped;

/// The name by which people find the task. The name in the scheduler also has the user's identifier, because all users
/// share its root folder.
pub const NAME: &str = "link-agent";

/// The longest path of a program in a task, in UTF-16 units ([MS-TSCH] 2.5.1, `pathType`).
const LONGEST_PATH: usize = 260;

/// The values of the task.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LogonTask {
    /// The guard's path. A task cannot set environment variables, so the guard finds its folders without them, and gives
    /// the agent the others ([`is_carried`]).
    pub program: PathBuf,
    /// The security identifier (`S-1-5-…`) of the user. Only an administrator may create a task for
    /// the logon of every user.
    pub user: String,
}

impl LogonTask {
    /// Returns the text. None if XML cannot hold the path or the user, or the scheduler takes no path of this length.
    ///
    /// The text declares UTF-16. Pass it to the scheduler as a wide string, or write it to a file
    /// as UTF-16 with a byte order mark.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let program = self.program.to_str()?;
        if !(1..=LONGEST_PATH).contains(&program.encode_utf16().count()) || self.user.is_empty() {
            return None;
        }
        let (program, user) = (escaped(program)?, escaped(&self.user)?);
        Some(format!(
            r#"<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Link agent</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
      <UserId>{user}</UserId>
    </LogonTrigger>
    <TimeTrigger>
      <Enabled>true</Enabled>
      <StartBoundary>2026-01-01T00:00:00</StartBoundary>
      <Repetition>
        <Interval>PT5M</Interval>
        <StopAtDurationEnd>false</StopAtDurationEnd>
      </Repetition>
    </TimeTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>{user}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>Parallel</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <AllowHardTerminate>true</AllowHardTerminate>
    <StartWhenAvailable>true</StartWhenAvailable>
    <RunOnlyIfNetworkAvailable>false</RunOnlyIfNetworkAvailable>
    <IdleSettings>
      <StopOnIdleEnd>false</StopOnIdleEnd>
      <RestartOnIdle>false</RestartOnIdle>
    </IdleSettings>
    <AllowStartOnDemand>true</AllowStartOnDemand>
    <Enabled>true</Enabled>
    <Hidden>false</Hidden>
    <RunOnlyIfIdle>false</RunOnlyIfIdle>
    <WakeToRun>false</WakeToRun>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>5</Priority>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>255</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>{program}</Command>
    </Exec>
  </Actions>
</Task>
"#
        ))
    }
}

/// Returns whether the guard of a task can give the agent this variable. Those that name folders cannot: the guard needs
/// them to find what it gives.
#[must_use]
pub fn is_carried(variable: &str) -> bool {
    variable != "LINK_HOME" && !variable.starts_with("XDG_")
}

/// Returns whether the scheduler may start the task, given the XML that it shows for it. Each trigger has such an element
/// too, so that of the settings counts.
#[must_use]
pub fn is_enabled(xml: &str) -> bool {
    let settings = xml.split_once("<Settings>").map_or("", |(_, settings)| settings);
    let settings = settings.split_once("</Settings>").map_or("", |(settings, _)| settings);
    !settings.is_empty() && !settings.contains("<Enabled>false</Enabled>")
}

#[cfg(test)]
mod schema;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use roxmltree::Document;

    use super::*;
    use crate::decide::service::xml::tests::{any_text, can_stand};

    #[test]
    fn a_task_is_enabled_unless_its_settings_say_otherwise() {
        let task = LogonTask { program: r"C:\link-guard.exe".into(), user: "S-1-5-18".to_owned() };
        let text = task.text().unwrap();
        assert!(is_enabled(&text));
        let (triggers, settings) = text.split_once("<Settings>").unwrap();
        let off = |part: &str| part.replace("<Enabled>true</Enabled>", "<Enabled>false</Enabled>");
        assert!(is_enabled(&format!("{}<Settings>{settings}", off(triggers))), "a trigger is off");
        assert!(!is_enabled(&format!("{triggers}<Settings>{}", off(settings))));
        assert!(!is_enabled(""), "the scheduler does not know it");
    }

    #[test]
    fn the_task_is_this_text() {
        let task = LogonTask {
            program: r"C:\Users\a b\R&D\link-guard.exe".into(),
            user: "S-1-5-21-1-2-3-1001".to_owned(),
        };
        assert_eq!(task.text().unwrap(), include_str!("golden/task.xml"));
    }

    #[test]
    fn the_task_fits_the_schema_of_the_scheduler() {
        assert_eq!(schema::faults(include_str!("golden/task.xml")), [""; 0]);
    }

    #[test]
    fn a_program_is_as_long_as_the_scheduler_takes_it() {
        let of = |length: usize| {
            let program = format!("C:\\{}", "\u{fc}".repeat(length - 3)).into();
            LogonTask { program, user: "S-1-5-18".to_owned() }.text()
        };
        assert_eq!(schema::faults(&of(260).unwrap()), [""; 0]);
        assert_eq!(of(261), None);
    }

    proptest! {
        #[test]
        fn every_path_and_user_comes_back_as_it_was(program in any_text(), user in any_text()) {
            let task = LogonTask { program: program.clone().into(), user: user.clone() };
            let text = task.text();
            let is_there = !program.is_empty() && !user.is_empty();
            prop_assert_eq!(text.is_some(), is_there && can_stand(&program) && can_stand(&user));
            if let Some(text) = text {
                let document = Document::parse(&text).unwrap();
                prop_assert_eq!(words_of(&document, "Command"), [program]);
                prop_assert_eq!(words_of(&document, "UserId"), [user.clone(), user]);
            }
        }
    }

    fn words_of(document: &Document<'_>, name: &str) -> Vec<String> {
        let elements = document.descendants().filter(|node| node.tag_name().name() == name);
        elements.map(|node| node.text().unwrap_or_default().to_owned()).collect()
    }
}
