/**
 * The transcript of `swink eval`.
 *
 * @module
 */

import type { ScriptedReply } from "../../../cli/demo/anthropic_frames.ts";
import { scriptedReply } from "../fake_host.ts";
import type { TemporaryDirectory } from "../temporary_directory.ts";
import type { Step, Transcript } from "./transcript.ts";

const CASES = `id: greetings
cases:
  - id: greets
    tags: [short]
    userMessages: [Greet Ada]
    expectedResponse: { type: contains, text: Hello Ada }
  - id: thanks
    tags: [long]
    userMessages: [Thank Ada]
    expectedResponse: { type: contains, text: Thank you }
`;

/** Returns a set whose only case has an evaluator. */
function createSet(evaluator: string): string {
  return `id: judged
cases:
  - id: greets
    userMessages: [Greet Ada]
    evaluators: [{ name: ${evaluator}, metric: m }]
`;
}

const RUN = "--parallel 1 --results HOME/results --sandbox off";
const ALL = [scriptedReply("Hello Ada"), scriptedReply("Thank you")];
const TASK = JSON.stringify({
  instance_id: "a__b-1",
  repo: "a/b",
  base_commit: "HEAD",
  problem_statement: "Fix it",
  FAIL_TO_PASS: "[]",
  PASS_TO_PASS: "[]",
});

/** Returns an evaluation of the set, in which the model replies. */
function evaluate(options: string, model: readonly ScriptedReply[] = ALL): Step {
  return { line: `swink eval run HOME/cases.yaml ${RUN} ${options}`.trimEnd(), model };
}

/** An evaluation whose start is later than the time of the transcript. */
const FUTURE_HEADER = JSON.stringify({
  version: 1,
  seed: 0,
  startedAt: Date.UTC(2026, 0, 3),
  set: { id: "greetings", cases: [] },
});

async function writeHeader(home: TemporaryDirectory, text: string): Promise<void> {
  const directory = `${home.path}/results/20260103-000000-greetings`;
  await Deno.mkdir(directory, { recursive: true });
  await Deno.writeTextFile(`${directory}/run.json`, text);
}

/** The transcript: evaluations, their comparison, and their errors. */
export const EVAL_TRANSCRIPT: Transcript = {
  name: "eval",
  files: {
    "cases.yaml": CASES,
    "judged.yaml": createSet("safety"),
    "unknown.yaml": createSet("nothing"),
    "invalid.yaml": createSet("command, options: { comand: deno test }"),
    "broken.yaml": "id: [",
    "tasks.jsonl": `${TASK}\n`,
    "empty/x": "",
    "file": "",
  },
  steps: [
    "swink eval --help",
    "swink eval show latest",
    ...["run", "patch", "compare", "gate", "report", "list", "verify", "init"].map((name) =>
      `swink eval ${name} --help`
    ),
    "swink eval list --results HOME/results",
    evaluate(""),
    evaluate("", [scriptedReply("Hello Bob"), scriptedReply("Thank you")]),
    "swink eval list --results HOME/results",
    "swink eval verify latest --results HOME/results",
    "swink eval verify 2026 --results HOME/results",
    "swink eval verify nothing --results HOME/results",
    "swink eval report latest --results HOME/results",
    "swink eval report latest --results HOME/results --html HOME/missing/page.html",
    "swink eval report latest --results HOME/results --html HOME/empty",
    {
      line: "swink eval report latest --results HOME/results --html HOME/full.html",
      before: (home) => Deno.symlink(`${home.path}/missing/file`, `${home.path}/full.html`),
    },
    "swink eval compare 20260102-000000-greetings-claude-sonnet-5-5 latest --results HOME/results",
    "swink eval compare latest --results HOME/results",
    "swink eval gate latest --results HOME/results",
    "swink eval gate latest --results HOME/results --min-pass-rate 0.5",
    "swink eval gate latest --results HOME/results --min-pass-rate much",
    evaluate("--filter nothing"),
    evaluate("--chaos 5-1"),
    evaluate("--repeat 1000000"),
    evaluate("--replay HOME/empty"),
    evaluate("--replay HOME/missing"),
    evaluate("--record HOME/recorded"),
    evaluate("--replay HOME/recorded"),
    evaluate("--replay HOME/recorded -m openai/gpt-6.2-sol"),
    `swink eval run HOME/judged.yaml ${RUN}`,
    `swink eval run HOME/unknown.yaml ${RUN}`,
    `swink eval run HOME/invalid.yaml ${RUN}`,
    `swink eval run HOME/broken.yaml ${RUN}`,
    `swink eval run HOME/missing.yaml ${RUN}`,
    `swink eval run`,
    `swink eval run HOME/cases.yaml --results HOME/file/results`,
    {
      line: `swink eval run HOME/cases.yaml ${RUN}`,
      model: [{
        status: 401,
        headers: { "content-type": "application/json", "x-should-retry": "false" },
        body:
          '{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}',
      }],
    },
    {
      line: "swink eval gate latest --results HOME/results",
      before: (home) => writeHeader(home, "{"),
    },
    {
      line: "swink eval gate latest --results HOME/results",
      before: (home) => writeHeader(home, FUTURE_HEADER),
    },
    "swink eval patch HOME/missing.jsonl",
    "swink eval patch HOME/cases.yaml",
    "swink eval init HOME/empty",
    "swink eval init HOME/file/evals",
    "swink eval init HOME/evals",
    "swink eval delete",
  ],
};
