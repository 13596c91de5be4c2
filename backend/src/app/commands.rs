//! Commands in the form that users see.

use std::time::Duration;

use link_protocol::{
    backend_api::command::{CommandExplanation, CommandInfo},
    id::{AccountId, CommandId},
    report::LifecycleStatus,
};

use crate::{
    app::App,
    auth::access::Identity,
    database::{Page, read},
    domain::{
        command::CommandRecord,
        explain::{self, Receiver},
        ownership,
        refusal::Refusal,
        sharing::Publishers,
    },
    failure::AppError,
    tables::{CommandFilter, names},
};

impl App {
    /// Returns a command. Waits up to `wait` for its outcome.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn command(
        &self,
        caller: Identity,
        id: CommandId,
        wait: Duration,
    ) -> Result<CommandInfo, AppError> {
        let mut listener = self.results.listen(id);
        let mut draining = self.draining.subscribe();
        let record = self.visible_command(caller, id).await?;
        if record.is_told() || wait.is_zero() {
            return self.named_command(caller.account, &record).await;
        }
        let ended = async {
            loop {
                tokio::select! {
                    _rung = listener.rung() => {}
                    () = drained(&mut draining) => {
                        return self.visible_command(caller, id).await;
                    }
                }
                let record = self.visible_command(caller, id).await?;
                if record.is_told() {
                    return Ok(record);
                }
            }
        };
        let record = match tokio::time::timeout(wait, ended).await {
            Ok(ended) => ended?,
            Err(_elapsed) => self.visible_command(caller, id).await?,
        };
        self.named_command(caller.account, &record).await
    }

    /// Lists the commands to the devices of the caller's account.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn commands(
        &self,
        caller: Identity,
        filter: CommandFilter,
        page: &Page,
    ) -> Result<Vec<CommandInfo>, AppError> {
        let commands = self.store.commands(caller.account, filter, self.now(), page).await?;
        self.named_commands(caller.account, commands.iter().map(CommandRecord::info).collect())
            .await
    }

    /// Describes a command with the names of its device and model.
    pub(super) async fn named_command(
        &self,
        account: AccountId,
        record: &CommandRecord,
    ) -> Result<CommandInfo, AppError> {
        let mut named = self.named_commands(account, vec![record.info()]).await?;
        Ok(named.pop().unwrap_or_else(|| record.info()))
    }

    /// Adds the names of devices and models, with one statement for each kind.
    async fn named_commands(
        &self,
        account: AccountId,
        mut commands: Vec<CommandInfo>,
    ) -> Result<Vec<CommandInfo>, AppError> {
        // A command is about a model that was deployed to its device, so sharing gives no further name.
        let publishers = Publishers::default();
        let (devices, models) = read!(self.store, |db| {
            let ids = commands.iter().map(|command| command.device_id.to_string());
            let devices = names::devices(db, account, ids).await?;
            let ids = commands.iter().filter_map(|command| command.model_id);
            let ids = ids.map(|id| id.to_string());
            (devices, names::models(db, account, &publishers, ids).await?)
        });
        for command in &mut commands {
            command.device_name = devices.get(&command.device_id.to_string()).cloned();
            let model = command.model_id.map(|id| id.to_string());
            command.model_name = model.and_then(|id| models.get(&id)).cloned();
        }
        Ok(commands)
    }

    /// Explains the state of a command, the reason, and what happens next.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn explain_command(
        &self,
        caller: Identity,
        id: CommandId,
    ) -> Result<CommandExplanation, AppError> {
        let record = self.visible_command(caller, id).await?;
        let device = self.store.device(record.device).await?;
        let device = device.ok_or(Refusal::NotFound("command"))?;
        let (online, last_seen_at) = (self.is_online(&device), device.last_seen_at);
        let updating = device.status == LifecycleStatus::Updating;
        let receiver = Receiver { online, updating, last_seen_at };
        let mut explanation = explain::explain(&record, receiver, self.now());
        explanation.command = self.named_command(caller.account, &record).await?;
        Ok(explanation)
    }

    async fn visible_command(
        &self,
        caller: Identity,
        id: CommandId,
    ) -> Result<CommandRecord, AppError> {
        let record = self.store.command(id).await?.ok_or(Refusal::NotFound("command"))?;
        let device = self.store.device(record.device).await?;
        ownership::own_device(device, caller.account)
            .map_err(|_hidden| Refusal::NotFound("command"))?;
        Ok(record)
    }
}

async fn drained(draining: &mut tokio::sync::watch::Receiver<bool>) {
    while !*draining.borrow_and_update() {
        // The sender lives as long as the application.
        if draining.changed().await.is_err() {
            return;
        }
    }
}
