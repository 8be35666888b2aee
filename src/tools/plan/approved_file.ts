/**
 * The file of an approved plan while it is executed.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import type { Policy, StopVerdict } from "../../core/hooks/policy.ts";
import type { PlanStepState } from "../../core/sessions/session_entry.ts";
import type { PlanFile } from "./plan_file.ts";
import { hashPlan } from "./plan_hash.ts";
import { setStates } from "./step_state.ts";

const EDITED = "The plan was edited after it was approved, so that it must be approved again";

/** The file of a plan whose content was approved. */
export class ApprovedFile {
  readonly #file: PlanFile;
  readonly #hash: string;

  /** Creates the file of the plan that was approved under a hash. */
  constructor(file: PlanFile, hash: string) {
    this.#file = file;
    this.#hash = hash;
  }

  /** Returns the reason why the plan must be approved again, as a sentence without a period; `undefined` if it need not. */
  async findChange(signal?: AbortSignal): Promise<string | undefined> {
    const read = await this.#file.read(signal);
    switch (read.type) {
      case "missing":
        return `The plan was removed after it was approved, so that it must be approved again`;
      case "refused":
        return `${EDITED}: ${read.reason}`;
      case "text":
        return await hashPlan(read.text) === this.#hash ? undefined : EDITED;
    }
  }

  /**
   * Writes the states of the steps. Returns the reason why they were not written; the session has them all the same. A
   * file whose content has changed stays as it is.
   */
  async writeStates(
    states: readonly PlanStepState[],
    signal?: AbortSignal,
  ): Promise<string | undefined> {
    try {
      const read = await this.#file.read(signal);
      if (read.type !== "text" || await hashPlan(read.text) !== this.#hash) return EDITED;
      const text = setStates(read.text, states);
      if (text !== read.text) await this.#file.write(text);
      return undefined;
    } catch (thrown) {
      return `The states of the steps were not written into the file: ${getErrorMessage(thrown)}`;
    }
  }
}

/** Name of the policy that stops an execution whose plan was edited. */
export const PLAN_APPROVAL = "plan_approval";

/** Creates a policy that stops the run before a turn or a call if its plan was edited; `undefined` for no plan yet. */
export function planApproval(getFile: () => ApprovedFile | undefined): Policy {
  const check = async (
    { signal }: { readonly signal: AbortSignal },
  ): Promise<StopVerdict | undefined> => {
    const reason = await getFile()?.findChange(signal);
    return reason === undefined ? undefined : { type: "stop", reason };
  };
  return { name: PLAN_APPROVAL, preTurn: check, preDispatch: check };
}
