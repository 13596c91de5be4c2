//! The messages of a conversation, the sampling parameters, and the meaning of a typed line. Pure.

use link_client::chat::{Message, Role, Sampling};

const HELP: &str = "\
/clear              forget the conversation
/system TEXT        set the system prompt; without TEXT, show the prompt; `/system -` removes it
/set NAME VALUE     set temperature, top_p, max_tokens or seed; `/set` shows all, `-` resets a value
/stop               stop serving the model on this device, and leave
/bye                leave, like Ctrl-D
\\ at the end continues a line; \"\"\" starts and ends a text of several lines.
Ctrl-C stops an answer.";

/// A conversation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conversation {
    system: Option<String>,
    sampling: Sampling,
    said: Vec<Message>,
}

/// The meaning of a typed text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Entry {
    Nothing,
    /// Ask the model: a question was added.
    Ask,
    /// Show this text to the user.
    Say(String),
    Leave,
    StopModel,
}

impl Conversation {
    /// Starts a conversation.
    pub(crate) fn new(system: Option<String>, sampling: Sampling) -> Self {
        Self { system, sampling, said: Vec::new() }
    }

    /// Returns the sampling parameters.
    pub(super) const fn sampling(&self) -> &Sampling {
        &self.sampling
    }

    /// Returns the messages to send to the model.
    pub(super) fn messages(&self) -> Vec<Message> {
        let system = self.system.clone().map(|content| Message { role: Role::System, content });
        system.into_iter().chain(self.said.iter().cloned()).collect()
    }

    /// Adds a question of the user.
    pub(super) fn ask(&mut self, question: String) {
        self.said.push(Message { role: Role::User, content: question });
    }

    /// Adds the model's answer. Of a stopped answer, adds the part that arrived.
    pub(super) fn answered(&mut self, content: String) {
        self.said.push(Message { role: Role::Assistant, content });
    }

    /// Removes the last question, which got no answer.
    pub(super) fn take_back(&mut self) {
        self.said.pop_if(|last| last.role == Role::User);
    }

    /// Interprets a typed text: a command, or a message to the model.
    pub(super) fn enter(&mut self, typed: &str) -> Entry {
        let text = typed.trim();
        if text.is_empty() {
            return Entry::Nothing;
        }
        let Some(command) = text.strip_prefix('/') else {
            self.ask(text.to_owned());
            return Entry::Ask;
        };
        let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        match (name, rest.trim()) {
            ("help" | "?", _) => Entry::Say(HELP.to_owned()),
            ("bye" | "exit" | "quit", _) => Entry::Leave,
            ("stop", _) => Entry::StopModel,
            ("clear", _) => {
                self.said.clear();
                Entry::Say("forgot the conversation".to_owned())
            }
            ("system", text) => Entry::Say(self.set_system(text)),
            ("set", "") => Entry::Say(self.settings()),
            ("set", pair) => {
                let (name, value) = pair.split_once(char::is_whitespace).unwrap_or((pair, ""));
                Entry::Say(self.set(name, value.trim()))
            }
            (other, _) => {
                Entry::Say(format!("unknown command `/{other}`; /help lists all commands"))
            }
        }
    }

    fn set_system(&mut self, text: &str) -> String {
        match text {
            "" => self.system.clone().unwrap_or_else(|| "no system prompt is set".to_owned()),
            "-" => {
                self.system = None;
                "removed the system prompt".to_owned()
            }
            text => {
                self.system = Some(text.to_owned());
                "set the system prompt".to_owned()
            }
        }
    }

    fn set(&mut self, name: &str, value: &str) -> String {
        let sampling = &mut self.sampling;
        let taken = match name {
            "temperature" => between(value, 0.0, 10.0).map(|value| sampling.temperature = value),
            "top_p" => between(value, 0.0, 1.0).map(|value| sampling.top_p = value),
            "max_tokens" => at_least(value, 1).map(|value| sampling.max_tokens = value),
            "seed" => at_least(value, 0).map(|value| sampling.seed = value),
            _ => Err("settings are temperature, top_p, max_tokens and seed".to_owned()),
        };
        match taken {
            Ok(()) => self.settings(),
            Err(why) => format!("cannot set `{name}`: {why}"),
        }
    }

    fn settings(&self) -> String {
        let Sampling { temperature, top_p, max_tokens, seed } = self.sampling;
        let shown = |value: Option<String>| value.unwrap_or_else(|| "default".to_owned());
        format!(
            "temperature {}, top_p {}, max_tokens {}, seed {}",
            shown(temperature.map(|value| value.to_string())),
            shown(top_p.map(|value| value.to_string())),
            shown(max_tokens.map(|value| value.to_string())),
            shown(seed.map(|value| value.to_string())),
        )
    }
}

/// Parses a number between two bounds. `-` means none.
fn between(text: &str, least: f64, most: f64) -> Result<Option<f64>, String> {
    if text == "-" {
        return Ok(None);
    }
    let value = text.parse().ok().filter(|value| (least..=most).contains(value));
    value.map(Some).ok_or_else(|| format!("`{text}` is not a number from {least} to {most}"))
}

/// Parses a whole number of at least `least`. `-` means none.
fn at_least<T>(text: &str, least: T) -> Result<Option<T>, String>
where
    T: std::str::FromStr + PartialOrd + std::fmt::Display,
{
    if text == "-" {
        return Ok(None);
    }
    let value = text.parse().ok().filter(|value| *value >= least);
    value.map(Some).ok_or_else(|| format!("`{text}` is not a whole number of at least {least}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_shown_the_system_prompt_and_what_was_said() {
        let mut talk = Conversation::new(Some("be brief".to_owned()), Sampling::default());
        assert_eq!(talk.enter("  hello "), Entry::Ask);
        talk.answered("hi".to_owned());
        assert_eq!(talk.enter("and?"), Entry::Ask);
        talk.take_back();
        talk.take_back();
        let shown: Vec<_> = talk.messages().into_iter().map(|m| (m.role, m.content)).collect();
        let expected = [(Role::System, "be brief"), (Role::User, "hello"), (Role::Assistant, "hi")];
        assert_eq!(shown, expected.map(|(role, text)| (role, text.to_owned())));
        assert_eq!(talk.enter("/clear"), Entry::Say("forgot the conversation".to_owned()));
        assert_eq!(talk.messages().len(), 1);
        talk.enter("/system -");
        assert_eq!(talk.messages(), []);
        assert_eq!(talk.enter("/system"), Entry::Say("no system prompt is set".to_owned()));
    }

    #[test]
    fn settings_are_checked_and_shown() {
        let mut talk = Conversation::default();
        let said = |talk: &mut Conversation, typed: &str| {
            let entry = talk.enter(typed);
            let Entry::Say(text) = entry else { panic!("{entry:?}") };
            text
        };
        let all = "temperature 0.2, top_p default, max_tokens default, seed default";
        assert_eq!(said(&mut talk, "/set temperature 0.2"), all);
        assert_eq!(said(&mut talk, "/set"), all);
        assert_eq!(talk.sampling().temperature, Some(0.2));
        let refused = said(&mut talk, "/set top_p 2");
        assert_eq!(refused, "cannot set `top_p`: `2` is not a number from 0 to 1");
        let refused = said(&mut talk, "/set max_tokens 0");
        assert_eq!(refused, "cannot set `max_tokens`: `0` is not a whole number of at least 1");
        assert!(said(&mut talk, "/set top_k 1").contains("settings are"));
        said(&mut talk, "/set temperature -");
        assert_eq!(talk.sampling(), &Sampling::default());
    }

    #[test]
    fn a_line_is_a_command_a_question_or_nothing() {
        let mut talk = Conversation::default();
        assert_eq!(talk.enter("   "), Entry::Nothing);
        assert_eq!(talk.enter("/bye"), Entry::Leave);
        assert_eq!(talk.enter("/stop"), Entry::StopModel);
        assert_eq!(talk.enter("/help"), Entry::Say(HELP.to_owned()));
        let unknown = "unknown command `/nope`; /help lists all commands".to_owned();
        assert_eq!(talk.enter("/nope now"), Entry::Say(unknown));
        assert_eq!(talk.messages(), []);
    }
}
