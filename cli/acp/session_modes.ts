/**
 * The modes of a session: which calls need an approval, and whether the model only plans.
 *
 * @module
 */

import type { AcpMode, AcpSession } from "../../src/protocols/acp/mod.ts";
import type { AgentSetup } from "../run/agent/setup_agent.ts";
import { EDITING_TOOLS } from "../run/settings/permissions.ts";
import type { RunOptions } from "../settings/run_options.ts";

/** Id of a mode: a value of `--permission-mode`. */
export type ModeId = RunOptions["permissionMode"];

const MODES: readonly (AcpMode & { readonly id: ModeId })[] = [
  {
    id: "default",
    name: "Ask",
    description: "Asks before a file is changed and before a command runs that changes something",
  },
  {
    id: "acceptEdits",
    name: "Accept edits",
    description: "Changes files of the working directory without asking, and asks before commands",
  },
  { id: "plan", name: "Plan", description: "Changes nothing, and writes a plan" },
  {
    id: "bypass",
    name: "Bypass approvals",
    description: "Asks for nothing; the sandbox still confines commands",
  },
];

/** The modes of an agent. The current one is a state of its gate and of plan mode, which a session keeps. */
export class SessionModes implements NonNullable<AcpSession["modes"]> {
  readonly available = MODES;
  readonly #setup: Pick<AgentSetup, "agent" | "planMode" | "controls">;

  constructor(setup: Pick<AgentSetup, "agent" | "planMode" | "controls">) {
    this.#setup = setup;
  }

  readonly current = (): ModeId => {
    const { planMode, controls: { gate } } = this.#setup;
    if (planMode?.isActive) return "plan";
    if (gate.mode === "bypassed") return "bypass";
    const accepts = EDITING_TOOLS.every((tool) =>
      gate.trusted.some(({ type, name }) => type === "tool" && name === tool)
    );
    return accepts ? "acceptEdits" : "default";
  };

  readonly select = (id: string): void => {
    const { agent, planMode, controls: { gate } } = this.#setup;
    const mode = MODES.find((mode) => mode.id === id)?.id ?? "default";
    gate.mode = mode === "bypass" ? "bypassed" : "smart";
    this.#trustEdits(mode === "acceptEdits");
    if (mode === "plan") planMode?.turnOn(agent);
    else planMode?.turnOff(agent);
  };

  /** Grants or withdraws changes of files; other grants stay. */
  #trustEdits(isTrusted: boolean): void {
    const { gate } = this.#setup.controls;
    const others = gate.trusted.filter(({ type, name }) =>
      type !== "tool" || !EDITING_TOOLS.includes(name)
    );
    gate.clearTrust();
    for (const grant of others) gate.trust(grant);
    if (!isTrusted) return;
    for (const name of EDITING_TOOLS) gate.trust({ type: "tool", name });
  }
}
