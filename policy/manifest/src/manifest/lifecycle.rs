//! `lifecycle`: which tasks a capsule takes, and what follows them.

use std::num::NonZeroU64;

use crate::block::{block, words};
use crate::location::Spanned;
use crate::reader::{Entries, Reader};

const TEN_MINUTES: NonZeroU64 = NonZeroU64::new(600).expect("600 is not zero");

block! {
    /// Which tasks a capsule takes, and what follows them.
    pub struct Lifecycle: Default {
        /// How many tasks it takes.
        default task_acceptance: TaskAcceptance = TaskAcceptance::Single,
        /// What follows the last task.
        default after_task: AfterTask = AfterTask::Exit,
        /// Tasks that may wait under `task_acceptance: queue`.
        default queue_depth: u64 = 1,
        /// How long it waits for an answer it asked for, in seconds.
        optional input_timeout_secs: u64,
        /// Whether tasks share a conversation.
        optional conversation: ConversationMode,
        /// How often a hook may open a finished task again.
        default max_task_reopens: u64 = 1,
        /// Time a command has to end after it was asked to, in seconds.
        default shell_grace_secs: u64 = 10,
        /// Time a delegated capsule has, in seconds.
        default delegation_deadline_secs: u64 = 600,
        /// How long before its deadline the capsule is told, in seconds.
        optional deadline_notice_secs: u64,
        /// A message that sends the agent back to work.
        optional keep_working: KeepWorking,
        /// A command that says whether the task is done.
        optional done_check: DoneCheck,
    }
    check check_queue;
}

/// A queue has room.
fn check_queue(block: &mut Lifecycle, reader: &mut Reader<'_>, entries: &Entries) {
    if block.task_acceptance == TaskAcceptance::Queue && block.queue_depth == 0 {
        let at = reader.place_of(entries, "queue_depth");
        let message = "a queue of depth 0 takes no task".to_owned();
        reader.refuse(at, message, Some("a depth above 0, or another `task_acceptance`"));
    }
}

words! {
    /// How many tasks a capsule takes.
    pub enum TaskAcceptance {
        /// None from outside.
        None = "none",
        /// One.
        Single = "single",
        /// One after another.
        Queue = "queue",
    }
}

words! {
    /// What follows the last task.
    pub enum AfterTask {
        /// The session ends.
        Exit = "exit",
        /// The session waits for the next task.
        Sleep = "sleep",
    }
}

words! {
    /// Whether tasks share a conversation.
    pub enum ConversationMode {
        /// Each begins anew.
        Stateless = "stateless",
        /// Each goes on from the last.
        Threaded = "threaded",
    }
}

block! {
    /// A message that sends the agent back to work.
    pub struct KeepWorking {
        /// The message.
        required message: String,
        /// How often at most.
        required limit: NonZeroU64,
    }
}

block! {
    /// A command that says whether the task is done.
    pub struct DoneCheck {
        /// The command; its first word is one of `shell.allow`.
        required command: Spanned<String>,
        /// How often it may say no.
        optional limit: NonZeroU64,
        /// Time it has, in seconds.
        default timeout_secs: NonZeroU64 = TEN_MINUTES,
    }
}
