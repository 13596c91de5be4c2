//! `link token`: personal access tokens.

use link_protocol::backend_api::token::{CreateToken, TokenInfo};

use crate::{args::TokenCommand, context::Context, error::CliError, output, session};

pub(super) async fn run(context: &Context, command: TokenCommand) -> Result<(), CliError> {
    let backend = session::logged_in(context)?;
    match command {
        TokenCommand::Create { name, scopes, expires_at } => {
            let created = backend.create_token(&CreateToken { name, scopes, expires_at }).await?;
            let until = created.info.expires_at;
            context
                .output
                .say(&format!("expires {until}; copy the token now: it is not shown again"));
            context.output.data(&created, |created| created.token.expose().to_owned())
        }
        TokenCommand::List => {
            context.output.data(&backend.personal_tokens().await?, |tokens| list(tokens))
        }
        TokenCommand::Revoke { token } => {
            backend.revoke_token(token).await?;
            context.output.say(&format!("revoked {token}"));
            context.output.data(&serde_json::json!({"revoked": token}), |_| String::new())
        }
    }
}

fn list(tokens: &[TokenInfo]) -> String {
    if tokens.is_empty() {
        return "no tokens".to_owned();
    }
    let rows = tokens.iter().map(|token| {
        let scopes: Vec<&str> = token.scopes.iter().map(|scope| scope.as_str()).collect();
        let used = token.last_used_at.map_or_else(|| "never".to_owned(), |time| time.to_string());
        let TokenInfo { token_id, name, expires_at, .. } = token;
        [token_id.to_string(), name.clone(), expires_at.to_string(), used, scopes.join(" ")]
    });
    output::table(["ID", "NAME", "EXPIRES", "LAST USED", "SCOPES"], rows)
}
