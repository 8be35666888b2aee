/**
 * Appends entries to a session whenever no other process has it open. `sessions_test.ts` runs some of it at the same time.
 *
 * @module
 */

import { SessionError } from "../../../src/core/errors/errors.ts";
import { FileSessionStore } from "../../../src/memory/mod.ts";
import { getNodeProcess } from "../../../src/platform/builtin_modules.ts";

const { argv, pid } = getNodeProcess() as unknown as {
  readonly argv: readonly string[];
  readonly pid: number;
};
const store = new FileSessionStore({ directory: argv.at(-2) ?? "" });
for (let number = 0; number < Number(argv.at(-1));) {
  try {
    await using session = await store.open("s");
    session.append({ type: "custom", name: "appended", data: [pid, number] });
    number++;
  } catch (error) {
    if (!(error instanceof SessionError) || error.reason !== "locked") throw error;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
console.log("done");
