/**
 * Starts the recording of an agent into a session, new or open.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { SessionStore } from "../../core/sessions/session.ts";
import { checkOptionsObject } from "../store/check_options_object.ts";
import { type RecorderOptions, recordInto } from "./recorder.ts";
import type { RecordSessionOptions, SessionRecording } from "./session_recording.ts";

/**
 * Records an agent into a session: messages, start and end of tool calls, changes of model, tools and queues,
 * approvals and compactions. The existing history is recorded at the start of the next run; of a run that is active, at
 * once.
 *
 * Entries are synced to disk before a tool with side effects runs and at the end of every turn. If they cannot be
 * written, the run is aborted with a `SessionError` as its reason, and the next run records the missing
 * messages. An agent can be recorded into several sessions at once, which then get the same conversation.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { InMemorySessionStore, recordSession } from "@swink/agent/memory";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const store = new InMemorySessionStore();
 * const agent = new Agent({ model: "any/model", streamFn: scriptedStream([reply("Hello!")]) });
 * await using recording = await recordSession(agent, store);
 * await agent.prompt("Hello");
 * (await recording.session.path({ types: ["message"] })).length; // 2
 * ```
 */
export async function recordSession(
  agent: Agent,
  store: SessionStore,
  recordOptions: RecordSessionOptions = {},
): Promise<SessionRecording> {
  checkOptionsObject("recordSession()", recordOptions);
  const { session, ...create } = recordOptions;
  if (!session) return await recordNew(agent, store, create);
  const { transform, approvalGate, onError } = create;
  return await recordInto(agent, session, { transform, approvalGate, onError, store });
}

/** Records an agent into a new session. */
export async function recordNew(
  agent: Agent,
  store: SessionStore,
  { transform, approvalGate, onError, claim, ...create }:
    & Omit<RecordSessionOptions, "session">
    & Pick<RecorderOptions, "claim">,
): Promise<SessionRecording> {
  const options = { transform, approvalGate, onError, store, claim };
  const created = await store.create(create);
  try {
    return await recordInto(agent, created, options);
  } catch (error) {
    await created.close();
    throw error;
  }
}
