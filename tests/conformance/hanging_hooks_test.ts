import { assertEquals } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import { repairHistory } from "../../src/core/messages/history.ts";
import { budget } from "../../src/policies/budget.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { settle } from "./ports.ts";

const hang = () => new Promise<never>(() => {});

function createStream() {
  return scriptedStream([reply([toolCall("work")]), reply("Done")]);
}

/** Functions of an application that never settle. */
const HANGING: Readonly<Record<string, () => Partial<AgentOptions>>> = {
  loadFacts: () => ({ streamFn: Object.assign(createStream(), { loadFacts: hang }) }),
  getApiKey: () => ({ getApiKey: hang }),
  transformContext: () => ({ transformContext: hang }),
  preRequest: () => ({ policies: [{ name: "slow", preRequest: hang }] }),
  preDispatch: () => ({ policies: [{ name: "slow", preDispatch: hang }] }),
  postDispatch: () => ({ policies: [{ name: "slow", postDispatch: hang }] }),
  "validate of a tool": () => ({ tools: [{ ...fakeTool({ name: "work" }), validate: hang }] }),
};

for (const [name, create] of Object.entries(HANGING)) {
  for (const end of ["abort()", "a time limit"]) {
    Deno.test(`${name} that never settles: ${end} ends the run`, async () => {
      const clock = new ManualClock();
      const { now, sleep } = clock;
      const options = create();
      const limit = budget({ elapsedMs: end === "abort()" ? 1_000_000 : 1000, preflight: true });
      const agent = new Agent({
        model: "any/model",
        streamFn: createStream(),
        tools: [fakeTool({ name: "work" })],
        now,
        sleep,
        ...options,
        policies: [limit, ...options.policies ?? []],
      });
      let isSettled = false;
      const running = agent.prompt("Go").finally(() => isSettled = true);
      await settle();
      if (end === "abort()") agent.abort("stop");
      for (let step = 0; step < 12 && !isSettled; step++) {
        await settle();
        clock.advance(250);
      }
      await settle();
      assertEquals(isSettled, true, "the run has ended");
      const { stoppedBy, abortReason } = await running;
      assertEquals(
        [stoppedBy?.policy, abortReason],
        end === "abort()" ? [undefined, "stop"] : ["budget", undefined],
      );
      assertEquals(repairHistory(agent.state.messages).repairs, []);
    });
  }
}
