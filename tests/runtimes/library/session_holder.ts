/**
 * Opens a session and never closes it. `sessions_test.ts` runs it in another process and kills it.
 *
 * @module
 */

import { FileSessionStore } from "../../../src/memory/mod.ts";
import { getNodeProcess } from "../../../src/platform/builtin_modules.ts";

const { argv } = getNodeProcess() as unknown as { argv: readonly string[] };
const store = new FileSessionStore({ directory: argv.at(-1) ?? "", owner: "holder" });
const session = await store.create({ id: "s" });
session.append({ type: "title", title: "Held" });
await session.flush();
console.log("open");
setInterval(() => {}, 60_000);
