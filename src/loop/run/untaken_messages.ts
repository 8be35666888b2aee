/**
 * The messages of queues that are functions, when a run ends before a turn has taken them: nothing else has them.
 *
 * @module
 */

import { cloneJson } from "../../core/json/json.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import type { RunServices } from "./run_services.ts";

/**
 * Appends the messages of functions that no turn has taken before the run was stopped, unless policies check the messages of
 * the run: they would not see these in the next one.
 */
export async function appendUntaken(run: RunServices): Promise<void> {
  const policies = run.config.policies.filter(({ preTurn }) => preTurn);
  // A policy that has stopped the run before its first turn may have kept others from their check.
  const areChecked = run.areMessagesChecked ?? policies.length > 1;
  const messages = areChecked ? [] : takeUntaken(run);
  if (messages.length > 0) await run.history.emitRepaired(messages);
}

/** Emits a warning with the messages of functions that no turn has taken. */
export async function reportUntaken(run: RunServices): Promise<void> {
  const messages = takeUntaken(run);
  if (messages.length === 0) return;
  const text = "The run ended before a turn could take messages of a queue that is a function";
  await run.events.warn("messages_not_delivered", text, cloneJson(messages));
}

/** Removes and returns the messages of functions; queues keep theirs for the next run. */
function takeUntaken({ config, steering, followUp }: RunServices): readonly AgentMessage[] {
  return [
    ...(typeof config.followUp === "function" ? followUp?.take() ?? [] : []),
    ...(typeof config.steering === "function" ? steering.take() : []),
  ];
}
