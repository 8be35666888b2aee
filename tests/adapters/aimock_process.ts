/**
 * Runs aimock until standard input ends. The first line of output is the URL of the server.
 *
 * @module
 */

import { LLMock } from "@copilotkit/aimock";

const mock = new LLMock({ port: 0, strict: true, logLevel: "silent" });
console.log(await mock.start());
for await (const _line of Deno.stdin.readable);
Deno.exit();
