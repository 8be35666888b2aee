/**
 * A session as the protocol serves it to an editor.
 *
 * @module
 */

import type { AgentMessage } from "../../mod.ts";
import type { AcpSession } from "../../src/protocols/acp/mod.ts";
import type { ChangeLog } from "../../src/tools/changes/change_log.ts";
import { createTurnId } from "../conversation/command/change_turn.ts";
import { getTextWithoutHooks } from "../hooks/hook_output.ts";
import type { StartedHooks } from "../hooks/started_hooks.ts";
import type { AgentSetup } from "../run/agent/setup_agent.ts";
import { type EditorCommandParts, EditorCommands } from "./editor_commands.ts";
import { SessionConfig } from "./session_config.ts";
import type { SessionModes } from "./session_modes.ts";

/** Parts of a session that its editor uses. */
export interface ServedSessionParts extends EditorCommandParts {
  /** The agent. */
  readonly setup: AgentSetup;
  /** The file changes by prompt. */
  readonly changes: ChangeLog;
  /** The hooks, which may change a prompt. */
  readonly hooks: Pick<StartedHooks, "submitMessage">;
  /** The modes. */
  readonly modes: SessionModes;
}

/** Creates the session, with the commands of the user and of the project. */
export async function createServedSession(
  id: string,
  parts: ServedSessionParts,
): Promise<AcpSession> {
  const { setup, changes, hooks, modes } = parts;
  const { agent, controls } = setup;
  const { tools } = controls;
  const commands = await EditorCommands.load(parts);
  return {
    id,
    agent,
    modes,
    config: new SessionConfig(parts),
    commands: commands.list,
    async runCommand(prompt, { signal }) {
      await tools.untilRecorded();
      return await commands.run(prompt, signal);
    },
    async preparePrompt(message, { signal }) {
      await tools.untilRecorded();
      // The clock of the entries of the session, with whose times `isTurnSince()` compares that of the turn.
      changes.beginTurn(createTurnId("prompt", Date.now()));
      return await hooks.submitMessage(message, signal);
    },
    getContextWindow: () => controls.contextWindow(agent.state.model),
    getTitle: () => getTitle(agent.state.messages),
  };
}

const MAX_TITLE = 80;

/** Returns the beginning of the first prompt. */
function getTitle(messages: readonly AgentMessage[]): string | undefined {
  const prompt = messages.find((message) => message.role === "user");
  const [line = ""] = prompt ? getTextWithoutHooks(prompt).trim().split("\n") : [];
  return line === "" ? undefined : line.slice(0, MAX_TITLE);
}
