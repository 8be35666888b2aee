import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { settle } from "../../tests/conformance/ports.ts";
import { testAgent } from "../../tests/conformance/test_agent.ts";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import type { Policy } from "../core/hooks/policy.ts";
import { extractText } from "../core/messages/content.ts";
import { modelSpec } from "../core/models/model.ts";
import type { Prices, Usage } from "../core/models/usage.ts";
import type { StreamFn } from "../core/streams/stream.ts";
import { wrapStreamFn } from "../core/streams/wrap_stream_fn.ts";
import { subAgentTool } from "../sub_agents/mod.ts";
import {
  fail,
  fakeTool,
  hang,
  ManualClock,
  reply,
  scriptedStream,
  toolCall,
} from "../testing/mod.ts";
import type { ScriptedStep } from "../testing/script.ts";
import { budget, type BudgetOptions, sharedBudget } from "./mod.ts";

const model = "test/model";
/** One unit of money per output token, two per input token that is written to the cache. */
const PRICES = { [model]: { input: 1_000_000, output: 1_000_000, cacheWrite: 2_000_000 } };
const usage: Usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, total: 15 };

/** The two policies, which check one run alike. */
const BUDGETS: Readonly<Record<string, (limits: BudgetOptions) => Policy>> = {
  budget,
  sharedBudget,
};

function startAgent(
  policy: Policy,
  steps: readonly ScriptedStep[],
  options: Partial<AgentOptions> = {},
) {
  const streamOptions = { maxTokens: 100 };
  return testAgent(steps, { policies: [policy], prices: PRICES, streamOptions, ...options });
}

for (const [name, create] of Object.entries(BUDGETS)) {
  Deno.test(`${name}() with preflight makes a request whose worst case just fits, and no larger one`, async () => {
    // "Go" is estimated as one token and four for the message.
    for (
      const [limits, made] of [
        [{ tokens: 105 }, 1],
        [{ tokens: 104 }, 0],
        [{ cost: 110 }, 1],
        [{ cost: 109 }, 0],
      ] as const
    ) {
      const { agent, streamFn } = startAgent(
        create({ ...limits, preflight: true }),
        [reply("Done", { usage })],
      );
      const { stoppedBy } = await agent.prompt("Go");
      assertEquals(streamFn.calls.length, made);
      assertEquals(stoppedBy === undefined, made === 1);
    }
  });

  Deno.test(`${name}() with preflight assumes the most expensive region`, async () => {
    const factors = { regionalRequests: 1.5, nightRequests: 0.5 };
    const prices = { [model]: { ...PRICES[model], factors } } as Prices;
    for (const [cost, made] of [[165, 1], [164, 0]] as const) {
      const policy = create({ cost, preflight: true });
      const { agent, streamFn } = startAgent(policy, [reply("Done", { usage })], { prices });
      await agent.prompt("Go");
      assertEquals(streamFn.calls.length, made);
    }
  });

  Deno.test(`${name}() with preflight counts the system prompt and the descriptions of tools`, async () => {
    const described = { ...fakeTool({ name: "work" }), description: "Works. ".repeat(100) };
    for (const options of [{ tools: [described] }, { systemPrompt: "Work well. ".repeat(100) }]) {
      for (const [tokens, made] of [[250, 0], [500, 1]] as const) {
        const policy = create({ tokens, preflight: true });
        const { agent, streamFn } = startAgent(policy, [reply("Done", { usage })], options);
        await agent.prompt("Go");
        assertEquals(streamFn.calls.length, made);
      }
    }
  });

  Deno.test(`${name}() with preflight says what the refused request could have spent`, async () => {
    const { agent } = startAgent(
      create({ tokens: 120, preflight: true }),
      [reply([toolCall("work")], { usage }), reply("Never")],
      { tools: [fakeTool({ name: "work" })] },
    );
    const { stoppedBy, turns } = await agent.prompt("Go");
    assertEquals(turns, 2);
    assertStringIncludes(
      stoppedBy?.reason ?? "",
      "could exceed the limit of 120 tokens: 15 tokens",
    );
    assertStringIncludes(stoppedBy?.reason ?? "", "0 tokens are reserved");
    assertStringIncludes(stoppedBy?.reason ?? "", "it could spend up to 1");
  });

  Deno.test(`${name}() with preflight takes the maximum of the model for a request without one`, async () => {
    const run = async (maxOutputTokens: number | undefined, tokens: number) => {
      const streamFn = Object.assign(
        scriptedStream([reply("Done", { usage })]),
        maxOutputTokens === undefined ? {} : { maxOutputTokens: () => maxOutputTokens },
      );
      const policies = [create({ tokens, preflight: true })];
      const agent = new Agent({ model, streamFn, policies });
      return (await agent.prompt("Go")).stoppedBy === undefined;
    };
    assertEquals(await run(50, 55), true);
    assertEquals(await run(50, 54), false);
    assertEquals(await run(undefined, 32_005), true);
    assertEquals(await run(undefined, 32_004), false);
  });

  Deno.test(`${name}() with preflight stops before a request of unknown price, unless it is ignored`, async () => {
    for (const [unknownPrice, made] of [["stop", 0], ["ignore", 1]] as const) {
      const { agent, streamFn } = startAgent(
        create({ cost: 1000, preflight: true, unknownPrice }),
        [reply("Done", { usage })],
        { prices: {} },
      );
      const { stoppedBy } = await agent.prompt("Go");
      assertEquals(streamFn.calls.length, made);
      assertEquals(stoppedBy?.reason.includes("price unknown") ?? false, made === 0);
    }
  });

  Deno.test(`${name}() with preflight loads the prices of the model first`, async () => {
    const inner = scriptedStream([reply("Done", { usage })]);
    let isLoaded = false;
    const streamFn = Object.assign(wrapStreamFn(inner, (request) => inner(request)), {
      prices: () => isLoaded ? PRICES[model] : undefined,
      loadFacts: () => {
        isLoaded = true;
        return Promise.resolve();
      },
    });
    const policies = [create({ cost: 1, preflight: true })];
    const agent = new Agent({ model, streamFn, policies, streamOptions: { maxTokens: 100 } });
    assertStringIncludes((await agent.prompt("Go")).stoppedBy?.reason ?? "", "cost limit of 1");
    assertEquals(inner.calls, []);
  });

  Deno.test(`${name}() counts the input of a reply that streams, if the request was checked`, async () => {
    const { agent, clock } = startAgent(
      create({ tokens: 225, preflight: true }),
      [hang({ after: "x".repeat(40) })],
      { streamOptions: { maxTokens: 6 } },
    );
    // 219 tokens of input, and 10 of the reply so far.
    const running = agent.prompt("x".repeat(860));
    await settle();
    clock.advance(250);
    assertEquals((await running).stoppedBy?.reason, "The run reached the limit of 225 tokens");
  });

  Deno.test(`${name}() limits the time of tool calls`, async () => {
    const { agent, clock } = testAgent(
      [reply([toolCall("work")]), reply([toolCall("work")]), reply("Never")],
      {
        policies: [create({ toolMs: 1500 })],
        tools: [fakeTool({
          name: "work",
          result: () => {
            clock.advance(1000);
            return "ok";
          },
        })],
      },
    );
    const { stoppedBy, turns } = await agent.prompt("Go");
    assertEquals([turns, stoppedBy?.reason], [
      2,
      "The run reached the limit of 1500 ms for tool calls",
    ]);
  });

  Deno.test(`${name}() cancels tool calls that run when they have used the time of tool calls together`, async () => {
    const tools = [fakeTool({ name: "slow", delayMs: Infinity }), fakeTool({ name: "quick" })];
    const { agent, clock } = testAgent(
      [reply([toolCall("slow"), toolCall("quick"), toolCall("slow")]), reply("Never")],
      { policies: [create({ toolMs: 1000 })], tools },
    );
    const running = agent.prompt("Go");
    const times: number[] = [];
    for (const _check of [1, 2]) {
      await settle();
      times.push(agent.state.pendingToolCalls.size);
      clock.advance(250);
    }
    const { stoppedBy, turns } = await running;
    const reason = "The run reached the limit of 1000 ms for tool calls";
    assertEquals([turns, stoppedBy?.reason, times], [1, reason, [2, 2]]);
    const results = agent.state.messages.flatMap((message) =>
      message.role === "tool_result" ? extractText(message.content) : []
    );
    const cancelled =
      `tool call cancelled: the policy "${stoppedBy?.policy}" stopped the run: ${reason}`;
    assertEquals(results, [cancelled, "ok", cancelled]);
    assertEquals(clock.sleepers, 0);
  });

  Deno.test(`${name}() counts a tool call once, while it runs and when it has ended`, async () => {
    const ends: ((result: string) => void)[] = [];
    const slow = fakeTool({
      name: "slow",
      result: () => new Promise<string>((resolve) => ends.push(resolve)),
    });
    const { agent, clock } = testAgent(
      [reply([toolCall("slow"), toolCall("slow")]), reply("Done")],
      { policies: [create({ toolMs: 1001 })], tools: [slow] },
    );
    const running = agent.prompt("Go");
    await settle();
    clock.advance(250);
    await settle();
    ends[0]?.("ok");
    await settle();
    clock.advance(250);
    await settle();
    clock.advance(250);
    await settle();
    ends[1]?.("ok");
    assertEquals((await running).text, "Done");
  });

  Deno.test(`${name}() with preflight refuses calls that may take longer than what is left`, async () => {
    const tools = [
      fakeTool({ name: "short", timeoutMs: 400 }),
      fakeTool({ name: "long", timeoutMs: 1001 }),
      fakeTool({ name: "unlimited" }),
    ];
    const { agent } = testAgent(
      [
        reply([toolCall("short"), toolCall("short"), toolCall("long"), toolCall("short")]),
        reply([toolCall("unlimited")]),
        reply("Done"),
      ],
      { policies: [create({ toolMs: 1000, preflight: true })], tools },
    );
    await agent.prompt("Go");
    assertEquals(tools.map(({ calls }) => calls.length), [2, 0, 1]);
    const refusals = JSON.stringify(agent.state.messages);
    assertStringIncludes(
      refusals,
      "may take up to 1001 ms, but of the limit of 1000 ms for tool calls 0 ms are spent and 800 ms",
    );
  });

  Deno.test(`${name}() with preflight releases the time of a call that another policy or the approval refuses`, async () => {
    const refuser: Policy = {
      name: "refuser",
      preDispatch: ({ toolCallId }) =>
        toolCallId === "call_1" ? { type: "skip", reason: "not now" } : undefined,
    };
    const shared = create({ toolMs: 1000, preflight: true });
    const work = fakeTool({ name: "work", timeoutMs: 600 });
    const { agent } = testAgent(
      [reply([toolCall("work"), toolCall("work"), toolCall("work")]), reply("Done")],
      { policies: [shared, refuser], tools: [work] },
    );
    await agent.prompt("Go");
    assertEquals(work.calls.length, 1, "the second call has the time of the first one");

    const denied = fakeTool({ name: "work", timeoutMs: 600 });
    const seen: unknown[] = [];
    const watch: Policy = {
      name: "watch",
      onRefused: ({ toolCallId, tool }) => void seen.push([toolCallId, tool === denied]),
    };
    const { agent: other } = testAgent(
      [reply([toolCall("work"), toolCall("none")]), reply("Done")],
      { policies: [shared, watch], tools: [denied], approve: () => false },
    );
    await other.prompt("Go");
    assertEquals([seen, denied.calls], [[["call_1", true]], []]);
  });

  Deno.test(`${name}() with preflight makes no retry whose worst case no longer fits`, async () => {
    const broken = () => fail("network_error", "down", { usage });
    // Each request: 5 tokens of input and at most 100; a failed attempt has spent 15.
    for (const [tokens, made] of [[119, 1], [120, 2], [134, 2], [135, 3]] as const) {
      const { agent, streamFn } = startAgent(
        create({ tokens, preflight: true }),
        [broken(), broken(), reply("Done", { usage })],
        { retry: () => 0, sleep: () => Promise.resolve() },
      );
      const { stoppedBy, usage: spent } = await agent.prompt("Go");
      assertEquals([tokens, streamFn.calls.length, spent.total], [tokens, made, made * 15]);
      assertEquals(
        stoppedBy?.reason.startsWith(`The next request could exceed the limit of ${tokens} tokens`),
        made < 3 ? true : undefined,
      );
    }
  });

  Deno.test(`${name}() with preflight checks a fallback model at its own prices, which it loads first`, async () => {
    const spare = modelSpec("other/spare");
    const rates = { input: 10_000_000, output: 10_000_000 };
    for (const [cost, made] of [[1050, 1], [1049, 0]] as const) {
      let isLoaded = false;
      const inner = scriptedStream([reply("Done", { usage })]);
      const spareFn = Object.assign(wrapStreamFn(inner, (request) => inner(request)), {
        prices: () => isLoaded ? rates : undefined,
        loadFacts: () => {
          isLoaded = true;
          return Promise.resolve();
        },
      });
      const streamFn = Object.assign(scriptedStream([fail("network_error", "down")]), {
        prices: () => PRICES[model],
      });
      const agent = new Agent({
        model,
        streamFn,
        policies: [create({ cost, preflight: true })],
        streamOptions: { maxTokens: 100 },
        retry: () => null,
        fallback: [{ model: spare, streamFn: spareFn }],
      });
      const { stoppedBy } = await agent.prompt("Go");
      assertEquals([cost, inner.calls.length], [cost, made], stoppedBy?.reason);
      assertEquals(stoppedBy?.reason.includes("could spend up to 1050") ?? false, made === 0);
    }
  });

  Deno.test(`${name}() with preflight.maxOutputTokens assumes it for a request without a maximum`, async () => {
    const run = async (tokens: number, maxTokens?: number) => {
      const streamFn = Object.assign(scriptedStream([reply("Done", { usage })]), {
        maxOutputTokens: () => 50,
      });
      const policies = [create({ tokens, preflight: { maxOutputTokens: 20 } })];
      const streamOptions = maxTokens === undefined ? {} : { maxTokens };
      const agent = new Agent({ model, streamFn, policies, streamOptions });
      return (await agent.prompt("Go")).stoppedBy === undefined;
    };
    assertEquals([await run(25), await run(24)], [true, false]);
    assertEquals([await run(35, 30), await run(34, 30)], [true, false]);
  });

  Deno.test(`${name}() with preflight.maxRequestMs makes no request that could end after the time limit`, async () => {
    for (const [maxRequestMs, turns] of [[300, 2], [301, 1]] as const) {
      const clock = new ManualClock();
      const policy = name === "budget"
        ? budget({ elapsedMs: 1000, preflight: { maxRequestMs } })
        : sharedBudget({ elapsedMs: 1000, preflight: { maxRequestMs }, now: clock.now });
      const work = fakeTool({
        name: "work",
        result: () => {
          clock.advance(700);
          return "ok";
        },
      });
      const streamFn = scriptedStream([reply([toolCall("work")], { usage }), reply("Done")]);
      const { now } = clock;
      const agent = new Agent({ model, streamFn, policies: [policy], tools: [work], now });
      const { stoppedBy } = await agent.prompt("Go");
      assertEquals(streamFn.calls.length, turns);
      assertEquals(
        stoppedBy?.reason,
        turns === 2
          ? undefined
          : "The next request could exceed the time limit of 1000 ms: 700 ms are spent, and it could take up to 301 ms",
      );
    }
  });

  Deno.test(`${name}() with preflight.maxToolMs refuses calls without a timeout that may take longer than what is left`, async () => {
    const tools = [fakeTool({ name: "unlimited" }), fakeTool({ name: "short", timeoutMs: 400 })];
    const { agent } = testAgent(
      [
        reply([toolCall("unlimited"), toolCall("unlimited"), toolCall("short")]),
        reply("Done"),
      ],
      { policies: [create({ toolMs: 1000, preflight: { maxToolMs: 600 } })], tools },
    );
    await agent.prompt("Go");
    assertEquals(tools.map(({ calls }) => calls.length), [1, 1]);
    assertStringIncludes(
      JSON.stringify(agent.state.messages),
      "may take up to 600 ms, but of the limit of 1000 ms for tool calls 0 ms are spent and 600 ms",
    );
  });

  Deno.test(`${name}() refuses an invalid preflight, and an invalid limit of tool time`, () => {
    const invalid = [1, null, "yes", { maxOutputTokens: -1 }, { maxRequestMs: "1" }, { maxMs: 1 }];
    for (const preflight of invalid) {
      assertThrows(() => create({ preflight: preflight as unknown as boolean }), BadRequestError);
    }
    assertThrows(() => create({ toolMs: -1 }), BadRequestError, "toolMs");
  });
}

Deno.test("sharedBudget() with preflight reserves for the requests of other runs until their replies are complete", async () => {
  const policy = sharedBudget({ tokens: 209, preflight: true });
  const started = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const slow: StreamFn = async function* (request) {
    started.resolve();
    await finish.promise;
    yield* scriptedStream([reply("Done", { usage })])(request);
  };
  const create = (streamFn: StreamFn) =>
    new Agent({ model, streamFn, policies: [policy], streamOptions: { maxTokens: 100 } });
  const running = create(slow).prompt("Go");
  await started.promise;
  assertEquals(policy.spent.reserved.usage.total, 105);
  const refused = await create(scriptedStream([reply("Never")])).prompt("Go");
  assertStringIncludes(
    refused.stoppedBy?.reason ?? "",
    "105 tokens are reserved for other requests",
  );
  finish.resolve();
  assertEquals((await running).stoppedBy, undefined);
  assertEquals(policy.spent.reserved.usage.total, 0);
  const next = await create(scriptedStream([reply("Done", { usage })])).prompt("Go");
  assertEquals(next.stoppedBy, undefined);
  assertEquals(policy.spent.usage.total, 30);
});

Deno.test("sharedBudget() releases what is reserved when a request fails, is aborted or its run is stopped", async () => {
  const controller = new AbortController();
  const cases: [ScriptedStep, Policy[]][] = [
    [fail("bad_request", "refused"), []],
    [hang(), []],
    [reply("Never"), [{ name: "throws", preRequest: () => Promise.reject(new Error("broken")) }]],
    [reply("Never"), [{ name: "stops", preRequest: () => ({ type: "stop", reason: "enough" }) }]],
  ];
  for (const [step, others] of cases) {
    const policy = sharedBudget({ tokens: 1000, preflight: true });
    const streamFn = scriptedStream([step]);
    const agent = new Agent({
      model,
      streamFn,
      policies: [policy, ...others],
      streamOptions: { maxTokens: 100 },
    });
    const running = agent.prompt("Go", { signal: controller.signal });
    await settle();
    agent.abort();
    await running;
    assertEquals(policy.spent.reserved.usage.total, 0);
  }
});

Deno.test("sharedBudget() shows the time that is reserved for calls until they end", async () => {
  const policy = sharedBudget({ toolMs: 1000, preflight: true });
  const seen: number[] = [];
  const work = fakeTool({
    name: "work",
    timeoutMs: 400,
    result: () => {
      seen.push(policy.spent.reserved.toolMs);
      return "ok";
    },
  });
  const { agent } = testAgent([reply([toolCall("work")]), reply("Done")], {
    policies: [policy],
    tools: [work],
  });
  await agent.prompt("Go");
  assertEquals([seen, policy.spent.reserved.toolMs], [[400], 0]);
});

Deno.test("sharedBudget() does not count the time of tools whose agents have it", async () => {
  const policy = sharedBudget({ toolMs: 1000, preflight: true });
  const { agent, clock } = testAgent(
    [
      reply([toolCall("explore", { prompt: "Look" })]),
      reply([toolCall("work")]),
      reply("Seen"),
      reply("Done"),
    ],
    {
      policies: [policy],
      toolTimeoutMs: 800,
      tools: [
        subAgentTool({ name: "explore", description: "" }),
        fakeTool({
          name: "work",
          result: () => {
            clock.advance(700);
            return "ok";
          },
        }),
      ],
    },
  );
  assertEquals((await agent.prompt("Go")).text, "Done");
  assertEquals(policy.spent.toolMs, 700);
});
