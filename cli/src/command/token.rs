//! `link token`: personal access tokens.

use link_protocol::backend_api::token::{CreateToken, TokenInfo};

use crate::{
    args::TokenCommand,
    backend_login,
    context::{self, Context},
    document::Revoked,
    error::CliError,
    output::{Cell, View},
    resolve,
};

pub(super) async fn run(context: &Context, command: TokenCommand) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    match command {
        TokenCommand::Create { name, scopes, expires_at } => {
            let expires_at = expires_at.map(|end| end.in_the_future(context::now()));
            let created = backend.create_token(&CreateToken { name, scopes, expires_at }).await?;
            let until = created.info.expires_at;
            context
                .output
                .say(&format!("expires {until}; copy the token now: it is not shown again"));
            context.output.data(&created, |created| created.token.expose().to_owned())
        }
        TokenCommand::List => {
            let view = context.view();
            context.output.data(&backend.personal_tokens().await?, |tokens| list(tokens, &view))
        }
        TokenCommand::Revoke { token } => {
            let named = token;
            let token = resolve::token(&backend, &named).await?;
            backend.revoke_token(token).await?;
            context.output.say(&format!("revoked {}", resolve::told_by_id(&named, token)));
            context.output.data(&Revoked { revoked: token }, |_| String::new())
        }
    }
}

fn list(tokens: &[TokenInfo], view: &View) -> String {
    if tokens.is_empty() {
        return "no tokens".to_owned();
    }
    let rows = tokens.iter().map(|token| {
        let scopes: Vec<&str> = token.scopes.iter().map(|scope| scope.as_str()).collect();
        let used = Cell::time(token.last_used_at, "never");
        let TokenInfo { token_id, name, expires_at, .. } = token;
        let expires = Cell::Time(*expires_at);
        [Cell::id(token_id), name.clone().into(), expires, used, scopes.join(" ").into()]
    });
    view.table(["ID", "NAME", "EXPIRES", "LAST USED", "SCOPES"], rows)
}
