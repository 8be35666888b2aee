import { assertRejects } from "@std/assert";
import { BadRequestError } from "../../core/errors/errors.ts";
import { checkCases } from "./check_cases.ts";
import type { EvalCase } from "./eval_case.ts";

Deno.test("checkCases: rejects expectations of untyped code that would accept each run", async () => {
  const budget = { maxTurns: 5 };
  for (
    const [changes, message] of [
      [
        { expectedRespone: { type: "exact", text: "x" } },
        "cases[0].expectedRespone is not a known property",
      ],
      [{ expectedResponse: { type: "equals", text: "x" } }, "cases[0].expectedResponse.type must"],
      [{ expectedResponse: { type: "custom" } }, 'the case "case_1" needs a function, check'],
      [{ expectedResponse: { type: "contains", text: "" } }, "cases[0].expectedResponse.text must"],
      [{ expectedFiles: [{ type: "exist", path: "a" }] }, "cases[0].expectedFiles[0].type must"],
      [{ expectedTrajectory: { match: "in_order", calls: [] } }, "expectedTrajectory.calls must"],
      [{ budget: { maxCost: NaN } }, "cases[0].budget.maxCost must be number"],
      [{ budget: { maxTurn: 5 } }, "cases[0].budget.maxTurn is not a known property"],
      [{ evaluators: [{ name: "efficiency", weight: -1 }] }, "cases[0].evaluators[0].weight must"],
      [{ tags: [1n] }, 'The case "case_1" is not JSON'],
      [{ budget: {} }, "cases[0].budget must NOT have fewer than 1 properties"],
      [
        { expectedResponse: { type: "regex", pattern: "(" } },
        "cases[0].expectedResponse.pattern is invalid",
      ],
      [
        { expectedResponse: { type: "schema", schema: { items: { requried: ["a"] } } } },
        'cases[0].expectedResponse.schema is invalid: Unknown property "requried" of the schema: did you mean required?',
      ],
      ...["/a", "\\a", "C:/a", "../a", "a/../../b", ".."].map((path) =>
        [
          { expectedFiles: [{ type: "missing", path }] },
          "cases[0].expectedFiles[0].path must be a relative path inside of the directory of the run",
        ] as const
      ),
      [
        {
          expectedTrajectory: {
            match: "exact",
            calls: [{ tool: "a", arguments: { b: 1 }, matchers: { b: { type: "ignore" } } }],
          },
        },
        "cases[0].expectedTrajectory.calls[0].matchers.b is an argument that arguments has, too",
      ],
    ] as const
  ) {
    const evalCase = { id: "case_1", userMessages: ["Go"], budget, ...changes };
    await assertRejects(
      () => checkCases([evalCase as unknown as EvalCase]),
      BadRequestError,
      message,
    );
  }
  const check = () => true;
  await checkCases([{
    id: "case_1",
    userMessages: ["Go"],
    expectedResponse: { type: "custom", check },
    tags: undefined,
  }]);
});
