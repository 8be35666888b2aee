/**
 * The hash under which a plan is approved.
 *
 * @module
 */

import { hashContent } from "../text/content_hash.ts";
import { clearStates } from "./step_state.ts";

/** Returns the SHA-256 of the text of a plan without the states of its steps, in hexadecimal. */
export async function hashPlan(text: string): Promise<string> {
  return await hashContent(clearStates(text));
}
