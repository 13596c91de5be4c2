//! A conversation in the terminal: messages and the meaning of typed lines (`conversation`, pure),
//! the line editor (`prompt`), and the printing of an answer (`answer`).

mod answer;
mod conversation;
mod prompt;

pub(crate) use answer::{Answered, CUT_OFF, Ended};
pub(crate) use conversation::Conversation;

use link_client::chat::ChatClient;

use crate::{context::Context, error::CliError, output};
use conversation::Entry;
use prompt::{Prompt, Typed};

/// How a conversation ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Left {
    /// The user has left.
    Done,
    /// The user has asked to stop serving the model.
    StopModel,
}

/// Asks one question, and prints the answer to stdout while it arrives.
///
/// # Errors
/// If the model cannot be reached or stdout cannot be written.
pub(crate) async fn once(
    context: &Context,
    client: &ChatClient,
    conversation: &mut Conversation,
    question: String,
) -> Result<Answered, CliError> {
    conversation.ask(question);
    let answered = answer::stream(context, client, conversation).await?;
    conversation.answered(answered.text.clone());
    Ok(answered)
}

/// Asks questions and prints the answers until the user leaves.
///
/// # Errors
/// If the terminal cannot be read. A failed question is reported, and the conversation continues.
pub(crate) async fn interactive(
    context: &Context,
    client: &ChatClient,
    model: &str,
    conversation: &mut Conversation,
) -> Result<Left, CliError> {
    context.output.say(&format!("chatting with `{model}`; /help lists commands, Ctrl-D leaves"));
    let mut prompt = Prompt::open(&context.roots.state.join("chat_history"))?;
    loop {
        let (back, typed) = prompt.read().await?;
        prompt = back;
        let Typed::Text(text) = typed else { return Ok(Left::Done) };
        match conversation.enter(&text) {
            Entry::Nothing => {}
            Entry::Say(text) => context.output.say(&text),
            Entry::Leave => return Ok(Left::Done),
            Entry::StopModel => return Ok(Left::StopModel),
            Entry::Ask => match answer::stream(context, client, conversation).await {
                Ok(answered) => {
                    conversation.answered(answered.text.clone());
                    context.output.say(&answered.in_words());
                }
                Err(error) => {
                    conversation.take_back();
                    // The answer may have been interrupted in the middle of a line.
                    output::write_stdout("\n")?;
                    context.output.error(&error);
                }
            },
        }
    }
}
