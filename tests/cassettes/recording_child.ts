/**
 * Records two exchanges, starts a third that never ends, and waits to be killed.
 *
 * @module
 */

import { recordFetch } from "../../src/cassettes/mod.ts";
import { replayFetch } from "../../src/testing/mod.ts";

const [file = ""] = Deno.args;
const answers = ["one", "two", { body: "half", ending: "hang" }] as const;
const fetch = recordFetch(replayFetch(answers), file);
for (const number of [1, 2]) await (await fetch(`https://api.example.com/${number}`)).text();
const reader = (await fetch("https://api.example.com/3")).body?.getReader();
await reader?.read();
console.log("ready");
setInterval(() => {}, 1000);
