//! Who waits is woken wherever it waits: here, or at another backend on the same database.

use link_protocol::id::{CommandId, DeviceId};

use crate::{app::App, database::Ring};

impl App {
    /// Wakes who sends a device its commands.
    pub(super) fn ring_device(&self, device: DeviceId) {
        self.polls.ring(device);
        self.store.tell_neighbours(Ring::Device(device));
    }

    /// Wakes who waits for the end of a command.
    pub(super) fn ring_command(&self, command: CommandId) {
        self.results.ring(command);
        self.store.tell_neighbours(Ring::Command(command));
    }

    /// Wakes who waits here for what other backends on the database stored, for as long as the
    /// store is open.
    pub async fn heed_neighbours(&self) {
        let heard = |ring| match ring {
            Ring::Device(device) => self.polls.ring(device),
            Ring::Command(command) => self.results.ring(command),
            Ring::All => {
                self.polls.stir_all();
                self.results.stir_all();
            }
        };
        self.store.heed_neighbours(heard).await;
    }
}
