/**
 * The events of a session on a server.
 *
 * @module
 */

import type { AgentEvent } from "../core/events/event.ts";
import type { SessionActivity } from "../core/sessions/session_activity.ts";
import type { SessionEntry } from "../core/sessions/session_entry.ts";

/**
 * An event of a session: an entry of its log, its state, or an event of its agent, which shows the conversation before its
 * entries are persisted.
 */
export type SessionEvent =
  | { readonly type: "entry"; readonly entry: SessionEntry }
  | { readonly type: "state"; readonly state: SessionActivity }
  /** All entries follow, and replace those before. */
  | { readonly type: "reset" }
  /** The connection has ended, and is opened again. The error is missing if the server has ended it. */
  | { readonly type: "disconnected"; readonly error?: Error }
  | AgentEvent;
