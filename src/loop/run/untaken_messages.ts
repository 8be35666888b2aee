/**
 * The messages of functions that a run ends without: no turn has taken them, and nothing else has them.
 *
 * @module
 */

import { cloneJson } from "../../core/json/json.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import type { RunServices } from "./run_services.ts";

/**
 * Appends the messages of functions that no turn has taken before the run was stopped, since nothing else has them; unless
 * policies check the messages of the run, which would not see these in the next one. A policy that has stopped the run before
 * its first turn may have kept others from their check.
 */
export async function appendUntaken(run: RunServices): Promise<void> {
  const count = run.config.policies.filter(({ preTurn }) => preTurn).length;
  const messages = run.areMessagesChecked ?? count > 1 ? [] : takeUntaken(run);
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
