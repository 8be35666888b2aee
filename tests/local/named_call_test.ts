/**
 * Models that write the name of a tool before the arguments of a call.
 */

import { assert, assertEquals } from "@std/assert";
import { createFixture, WEATHER } from "./local_fixture.ts";
import { CHAT_TEMPLATE } from "./tiny_model.ts";
import { llama } from "./tiny_models.ts";

const ignore = llama === undefined;

Deno.test({
  name: "createLocal(): calls that begin with the name of the tool obey a grammar",
  ignore,
}, async () => {
  // As those of Ministral 3.
  const replies = [
    ["[TOOL_CALLS]", "weather", "[ARGS]", '{"city": ', '"Oslo"', "}", "<|im_end|>"],
    ["[TOOL_CALLS]", "weather", "[ARGS]", '{"city": ', '"Paris"'],
    ["[TOOL_CALLS]", "nonsense"],
  ];
  const chatTemplate = `{# [ARGS] #}${CHAT_TEMPLATE.replaceAll("<tool_call>", "[TOOL_CALLS]")}`;
  for (const reply of replies) {
    await using fixture = await createFixture({
      tiny: { scripts: [["<|call|>", ...reply]], chatTemplate },
    });
    for (const toolChoice of ["auto", "required"] as const) {
      const { calls, text } = await fixture.ask("!call", { tools: [WEATHER], toolChoice });
      assertEquals(calls[0]?.name, "weather");
      if (reply.at(-1) === "<|im_end|>") assertEquals([calls.length, text], [1, ""]);
      assert(["Oslo", "Bern"].includes(String(calls[0]?.arguments.city)));
    }
  }
});
