/**
 * The session of an agent that carries out a plan.
 *
 * @module
 */

import type { Agent } from "../../../mod.ts";
import { importLate } from "../../host/import_late.ts";
import type { CommandContext } from "./command_context.ts";

/** Id of the agent that carries out a plan, in the session of the conversation. */
export const PLAN_AGENT_ID = "plan";

/** Records an agent in a session that belongs to that of the conversation; does nothing if that is not saved. */
export async function recordExecution(
  agent: Agent,
  { sessions, settings }: Pick<CommandContext, "sessions" | "settings">,
): Promise<AsyncDisposable> {
  await sessions.start();
  const parent = sessions.session;
  const store = parent && await sessions.openStore();
  if (!parent || !store) return { [Symbol.asyncDispose]: () => Promise.resolve() };
  const { recordSession } = await importLate<
    typeof import("../../../src/memory/recording/record_session.ts")
  >("../../../src/memory/recording/record_session.ts", import.meta.url);
  await parent.flush();
  return await recordSession(agent, store, {
    cwd: await Deno.realPath(settings.cwd),
    metadata: { subAgentParentId: parent.id, subAgentCallId: PLAN_AGENT_ID },
  });
}
