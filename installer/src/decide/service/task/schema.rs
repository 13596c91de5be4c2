//! What the schema of the task scheduler says about the elements of our task ([MS-TSCH] 2.5): which children each has, in
//! which order, and which words.

use roxmltree::{Document, Node};

const NAMESPACE: &str = "http://schemas.microsoft.com/windows/2004/02/mit/task";

/// The children of an element.
#[derive(Clone, Copy)]
enum Children {
    /// Each at most once, in any order (`xs:all`).
    Any(&'static [&'static str]),
    /// Each at most once, in this order (`xs:sequence`).
    InOrder(&'static [&'static str]),
    /// Any number of these (`xs:choice`).
    Of(&'static [&'static str]),
    /// A text.
    Text(fn(&str) -> bool),
}

use Children::{Any, InOrder, Of, Text};

/// Returns where `text` is off the schema.
pub(super) fn faults(text: &str) -> Vec<String> {
    let document = Document::parse(text).unwrap();
    let mut faults = Vec::new();
    let root = document.root_element();
    if root.tag_name().name() != "Task" || root.tag_name().namespace() != Some(NAMESPACE) {
        faults.push("the root is no task".to_owned());
    }
    look(root, "Task", &mut faults);
    let id = |element: &str, attribute: &str| {
        let found = document.descendants().find(|node| node.has_tag_name((NAMESPACE, element)));
        found.and_then(|node| node.attribute(attribute)).map(str::to_owned)
    };
    if id("Principal", "id") != id("Actions", "Context") {
        faults.push("the context of the actions names no principal".to_owned());
    }
    faults
}

fn look(node: Node<'_, '_>, path: &str, faults: &mut Vec<String>) {
    let children: Vec<_> = node.children().filter(Node::is_element).collect();
    let names: Vec<_> = children.iter().map(|child| child.tag_name().name()).collect();
    let once = |known: &[&str]| {
        names.iter().all(|name| known.contains(name))
            && known.iter().all(|known| names.iter().filter(|name| *name == known).count() <= 1)
    };
    let place = |known: &[&str], name: &str| known.iter().position(|known| *known == name);
    let fits = match of(path) {
        None => false,
        Some(Any(known)) => once(known),
        Some(InOrder(known)) => once(known) && names.is_sorted_by_key(|name| place(known, name)),
        Some(Of(known)) => names.iter().all(|name| known.contains(name)),
        Some(Text(fits)) => names.is_empty() && fits(node.text().unwrap_or_default()),
    };
    if !fits {
        faults.push(format!("{path}: {names:?} {:?}", node.text().unwrap_or_default().trim()));
    }
    for child in children {
        look(child, &format!("{path}/{}", child.tag_name().name()), faults);
    }
}

/// Returns what may be in the element at `path`.
fn of(path: &str) -> Option<Children> {
    let below = |start: &str| path.strip_prefix(start);
    if let Some(place) = below("Task/Triggers/") {
        return of_trigger(place.split_once('/').map_or(place, |(_, field)| field));
    }
    if let Some(place) = below("Task/Settings/") {
        return Some(of_setting(place));
    }
    Some(match path {
        "Task" => {
            Any(&["RegistrationInfo", "Triggers", "Settings", "Data", "Principals", "Actions"])
        }
        "Task/RegistrationInfo" => {
            Any(&["URI", "Source", "Date", "Author", "Version", "Description", "Documentation"])
        }
        "Task/Triggers" => Of(&["TimeTrigger", "LogonTrigger"]),
        "Task/Settings" => Any(SETTINGS),
        "Task/Principals" => InOrder(&["Principal"]),
        "Task/Principals/Principal" => {
            Any(&["UserId", "LogonType", "GroupId", "DisplayName", "RunLevel"])
        }
        "Task/Principals/Principal/LogonType" => {
            Text(|text| ["S4U", "Password", "InteractiveToken"].contains(&text))
        }
        "Task/Principals/Principal/RunLevel" => {
            Text(|text| ["LeastPrivilege", "HighestAvailable"].contains(&text))
        }
        "Task/Actions" => Of(&["Exec"]),
        "Task/Actions/Exec" => Any(&["Command", "Arguments", "WorkingDirectory"]),
        "Task/Actions/Exec/Command" => {
            Text(|text| (1..=260).contains(&text.encode_utf16().count()))
        }
        "Task/RegistrationInfo/Description" | "Task/Principals/Principal/UserId" => Text(is_some),
        _ => return None,
    })
}

const SETTINGS: &[&str] = &[
    "AllowStartOnDemand",
    "RestartOnFailure",
    "MultipleInstancesPolicy",
    "DisallowStartIfOnBatteries",
    "StopIfGoingOnBatteries",
    "AllowHardTerminate",
    "StartWhenAvailable",
    "RunOnlyIfNetworkAvailable",
    "WakeToRun",
    "Enabled",
    "Hidden",
    "IdleSettings",
    "ExecutionTimeLimit",
    "Priority",
    "RunOnlyIfIdle",
];

/// Returns what may be in a trigger, or in one of its elements.
fn of_trigger(place: &str) -> Option<Children> {
    Some(match place {
        "TimeTrigger" => InOrder(&[
            "Enabled",
            "StartBoundary",
            "EndBoundary",
            "Repetition",
            "ExecutionTimeLimit",
            "RandomDelay",
        ]),
        "LogonTrigger" => InOrder(&[
            "Enabled",
            "StartBoundary",
            "EndBoundary",
            "Repetition",
            "ExecutionTimeLimit",
            "UserId",
            "Delay",
        ]),
        "Enabled" | "Repetition/StopAtDurationEnd" => Text(is_boolean),
        "StartBoundary" | "EndBoundary" => {
            Text(|text| text.parse::<jiff::civil::DateTime>().is_ok())
        }
        "Repetition" => Any(&["Interval", "Duration", "StopAtDurationEnd"]),
        "Repetition/Interval" => Text(is_a_minute_to_a_month),
        "UserId" => Text(is_some),
        _ => return None,
    })
}

/// Returns what may be in an element of the settings. Most are true or false.
fn of_setting(place: &str) -> Children {
    match place {
        "MultipleInstancesPolicy" => {
            Text(|text| ["Parallel", "Queue", "IgnoreNew", "StopExisting"].contains(&text))
        }
        "IdleSettings" => Any(&["Duration", "WaitTimeout", "StopOnIdleEnd", "RestartOnIdle"]),
        "RestartOnFailure" => Any(&["Interval", "Count"]),
        "RestartOnFailure/Interval" => Text(is_a_minute_to_a_month),
        "RestartOnFailure/Count" => Text(|text| text.parse::<u8>().is_ok_and(|count| count > 0)),
        "ExecutionTimeLimit" => Text(|text| text.parse::<jiff::Span>().is_ok()),
        "Priority" => Text(|text| text.parse::<u8>().is_ok_and(|priority| priority <= 10)),
        _ => Text(is_boolean),
    }
}

fn is_some(text: &str) -> bool {
    !text.is_empty()
}

fn is_boolean(text: &str) -> bool {
    ["true", "false"].contains(&text)
}

fn is_a_minute_to_a_month(text: &str) -> bool {
    let minutes = text.strip_prefix("PT").and_then(|rest| rest.strip_suffix('M'));
    minutes
        .and_then(|minutes| minutes.parse().ok())
        .is_some_and(|minutes| (1..=31 * 24 * 60).contains(&minutes))
}

#[test]
fn a_task_that_is_off_the_schema_is_found() {
    let good = include_str!("../golden/task.xml");
    for (from, to) in [
        ("<LogonType>InteractiveToken<", "<LogonType>Nobody<"),
        ("<Interval>PT5M<", "<Interval>PT0M<"),
        ("<Enabled>true<", "<Enabled>yes<"),
        ("<Count>255<", "<Count>256<"),
        ("StopOnIdleEnd", "StopAtIdleEnd"),
        ("Context=\"Author\"", "Context=\"Other\""),
        ("<StartBoundary>2026-01-01T00:00:00</StartBoundary>", ""),
    ] {
        let bad = good.replace(from, to);
        assert_ne!(bad, good, "{from}");
        if from.contains("Boundary") {
            let start =
                "      <StartBoundary>2026-01-01T00:00:00</StartBoundary>\n    </TimeTrigger>";
            let bad = bad.replace("    </TimeTrigger>", start);
            assert_eq!(faults(&bad).len(), 1, "in another order");
        } else {
            assert!(!faults(&bad).is_empty(), "{to}");
        }
    }
}
