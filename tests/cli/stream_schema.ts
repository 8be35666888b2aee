/**
 * Checks lines of stream-json against the published schemas, without members that they do not describe.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { createInputSchema } from "../../cli/stream_json/input_schema.ts";
import { ajvValidator } from "../../mod.ts";
import { createOutputSchema } from "../../scripts/stream_output_schema.ts";

const isInput = ajvValidator(createInputSchema());
const isOutput = ajvValidator(createOutputSchema({ isClosed: true }));

/** Asserts that a program may write a message. */
export async function assertInput(message: unknown): Promise<void> {
  assertEquals((await isInput)(message), [], JSON.stringify(message));
}

/** Asserts that `swink` may write the lines. */
export async function assertOutput(lines: readonly unknown[]): Promise<void> {
  const validate = await isOutput;
  for (const line of lines) assertEquals(validate(line), [], JSON.stringify(line));
}
