//! A bounded queue whose senders never wait: if it is full, the oldest item is dropped and counted
//! as lost.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::Notify;

/// The queue. A clone is another handle to it, for sending or receiving.
#[derive(Debug)]
pub(crate) struct Queue<T>(Arc<Inner<T>>);

#[derive(Debug)]
struct Inner<T> {
    items: Mutex<VecDeque<T>>,
    bound: usize,
    added: Notify,
    dropped: AtomicU64,
}

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Queue<T> {
    /// Creates a queue for at most `bound` items.
    pub(crate) fn new(bound: usize) -> Self {
        let (items, dropped) = (Mutex::default(), AtomicU64::default());
        Self(Arc::new(Inner { items, bound, added: Notify::new(), dropped }))
    }

    /// Adds an item.
    pub(crate) fn push(&self, item: T) {
        let mut items = self.0.items.lock().unwrap_or_else(PoisonError::into_inner);
        if items.len() >= self.0.bound {
            items.pop_front();
            self.0.dropped.fetch_add(1, Ordering::Relaxed);
        }
        items.push_back(item);
        drop(items);
        self.0.added.notify_one();
    }

    /// Waits for the oldest item and removes it.
    pub(crate) async fn pop(&self) -> T {
        loop {
            let added = self.0.added.notified();
            if let Some(item) = self.take() {
                return item;
            }
            added.await;
        }
    }

    /// Drops all queued items on purpose, without counting them as lost.
    pub(crate) fn clear(&self) {
        self.0.items.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Counts items lost for reasons other than a full queue.
    pub(crate) fn count_lost(&self, items: u64) {
        self.0.dropped.fetch_add(items, Ordering::Relaxed);
    }

    /// Returns the number of items lost so far.
    pub(crate) fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }

    fn take(&self) -> Option<T> {
        self.0.items.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_full_queue_loses_its_oldest_items_and_counts_them() {
        let queue = Queue::new(3);
        (0..5).for_each(|item| queue.push(item));
        assert_eq!(queue.dropped(), 2);
        assert_eq!([queue.pop().await, queue.pop().await, queue.pop().await], [2, 3, 4]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn who_waits_gets_what_is_added() {
        let queue = Queue::new(1000);
        let source = queue.clone();
        let waits = tokio::spawn(async move {
            let mut sum = 0;
            for _ in 0..1000 {
                sum += queue.pop().await;
            }
            sum
        });
        (0..1000).for_each(|item| source.push(item));
        assert_eq!(waits.await.unwrap(), 499_500);
    }
}
