/**
 * What safety costs: confined commands over bare ones, searching over `rg`, many edits of one file, undoing a turn.
 *
 * @module
 */

import { ChangeLog, codingTools, createSandbox, type Sandbox } from "../src/tools/mod.ts";
import type { AgentTool } from "../mod.ts";
import { median, printReport, type Row } from "./report.ts";

const RUNS = 15;
const FILES = 20_000;

const context = {
  toolCallId: "bench",
  idempotencyKey: "bench",
  signal: new AbortController().signal,
  onUpdate: () => {},
};

async function callTool(
  tools: readonly AgentTool[],
  name: string,
  args: Record<string, unknown>,
): Promise<void> {
  const answer = await tools.find((tool) => tool.name === name)?.execute(args, context);
  if (typeof answer === "object" && answer.isError) throw new Error(JSON.stringify(answer.content));
}

async function measureTime(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

/** Medians of two things that are measured in turns, the first of each thrown away. */
async function measureInterleaved(
  runs: number,
  first: () => Promise<unknown>,
  second: () => Promise<unknown>,
): Promise<readonly [number, number]> {
  const figures: [number[], number[]] = [[], []];
  for (let run = 0; run <= runs; run++) {
    const pair = [await measureTime(first), await measureTime(second)] as const;
    if (run === 0) continue;
    figures[0].push(pair[0]);
    figures[1].push(pair[1]);
  }
  return [median(figures[0]), median(figures[1])];
}

async function withTemporaryDirectory(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "swink_bench_" });
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function benchCommands(folder: string): Promise<Row> {
  await using bare = createSandbox({ cwd: folder, confinement: "off" });
  await using confined = createSandbox({ cwd: folder });
  const [bareTools, confinedTools] = [bare, confined].map((sandbox) => codingTools({ sandbox }));
  const [plain, safe] = await measureInterleaved(
    RUNS,
    () => callTool(bareTools ?? [], "bash", { command: "true" }),
    () => callTool(confinedTools ?? [], "bash", { command: "true" }),
  );
  const figure = `${safe.toFixed(1)} ms over ${plain.toFixed(1)} ms`;
  return [
    "a confined command over a bare one",
    figure,
    `+${(safe - plain).toFixed(1)} ms`,
    "≤ 60 ms",
  ];
}

const WORDS =
  "const let function return import export async await class type string number result error path file"
    .split(" ");

async function makeFiles(folder: string): Promise<void> {
  let state = 1;
  const random = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below;
  for (let file = 0; file < FILES; file++) {
    const path = `${folder}/d${file % 200}`;
    if (file < 200) await Deno.mkdir(path);
    const lines = Array.from(
      { length: 10 + random(60) },
      () => Array.from({ length: 7 }, () => WORDS[random(WORDS.length)]).join(" "),
    );
    if (file % 1_000 === 7) lines.push("needle_in_haystack");
    await Deno.writeTextFile(`${path}/f${file}.ts`, lines.join("\n"));
  }
}

async function benchSearch(folder: string): Promise<Row[]> {
  await makeFiles(folder);
  await using sandbox = createSandbox({ cwd: folder });
  const withRg = codingTools({ sandbox });
  const withoutRg = codingTools({ sandbox: withoutPrograms(sandbox) });
  const rg = () =>
    new Deno.Command("rg", { args: ["--line-number", "needle_in", folder], stdout: "null" })
      .output();
  const search = (tools: readonly AgentTool[]) =>
    callTool(tools, "search_files", { pattern: "needle_in" });
  try {
    await rg();
  } catch {
    const alone = await measureTime(() => search(withoutRg));
    return [[`search of ${FILES} files, no rg here`, `${alone.toFixed(0)} ms`, "–", "≤ 5 × rg"]];
  }
  const row = async (what: string, tools: readonly AgentTool[]): Promise<Row> => {
    const [ours, theirs] = await measureInterleaved(7, () => search(tools), rg);
    const figure = `${ours.toFixed(0)} ms over ${theirs.toFixed(0)} ms`;
    return [what, figure, `${(ours / theirs).toFixed(1)} ×`, "≤ 5 × rg"];
  };
  return [
    await row(`search of ${FILES} files, our own walk`, withoutRg),
    await row(`search of ${FILES} files, with rg`, withRg),
  ];
}

/** The same sandbox on a machine where no program is installed. */
function withoutPrograms(sandbox: Sandbox): Sandbox {
  return new Proxy(sandbox, {
    get(target, name) {
      if (name === "startProgram") {
        return () => {
          throw new Deno.errors.NotFound("rg");
        };
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

async function benchEdits(folder: string): Promise<Row[]> {
  await using sandbox = createSandbox({ cwd: folder });
  const tools = codingTools({ sandbox });
  const text = Array.from({ length: 20_000 }, (_, line) => `line ${line} `.padEnd(49, ".")).join(
    "\n",
  );
  const editAll = async (count: number) => {
    await callTool(tools, "write_file", { path: "big.txt", content: text });
    const list = Array.from({ length: count }, (_, edit) => {
      const line = `line ${edit * 20} `;
      return { old_string: `${line}.`, new_string: `${line}!` };
    });
    return await measureTime(() => callTool(tools, "edit_file", { path: "big.txt", edits: list }));
  };
  await editAll(10);
  const [some, many] = [await editAll(500), await editAll(1_000)];
  const callByCall = async (count: number) => {
    await callTool(tools, "write_file", { path: "big.txt", content: text });
    return await measureTime(async () => {
      for (let edit = 0; edit < count; edit++) {
        const line = `line ${edit * 20} `;
        await callTool(tools, "edit_file", {
          path: "big.txt",
          edits: [{ old_string: `${line}.`, new_string: `${line}!` }],
        });
      }
    });
  };
  const [half, whole] = [await callByCall(500), await callByCall(1_000)];
  return [
    [
      "1,000 edits of 1 MB in one call, over 500",
      `${many.toFixed(0)} ms over ${some.toFixed(0)} ms`,
      `${(many / some).toFixed(2)} ×`,
      "linear: 2 ×",
    ],
    [
      "1,000 edits of 1 MB in 1,000 calls, over 500",
      `${whole.toFixed(0)} ms over ${half.toFixed(0)} ms`,
      `${(whole / half).toFixed(2)} ×`,
      "linear: 2 ×",
    ],
  ];
}

async function benchUndo(folder: string): Promise<Row> {
  const journal = new ChangeLog();
  await using sandbox = createSandbox({ cwd: folder });
  const tools = codingTools({ sandbox, changeLog: journal });
  for (let file = 0; file < 1_000; file++) {
    await Deno.writeTextFile(`${folder}/f${file}.txt`, `before ${file}\n`.repeat(50));
    await callTool(tools, "write_file", { path: `f${file}.txt`, content: `after ${file}\n` });
  }
  const took = await measureTime(() => journal.undoTurn(sandbox.files));
  return ["undo of a turn with 1,000 changed files", `${took.toFixed(0)} ms`, "–", "≤ 1,000 ms"];
}

if (import.meta.main) {
  const rows: Row[] = [];
  await withTemporaryDirectory(async (folder) => void rows.push(await benchCommands(folder)));
  await withTemporaryDirectory(async (folder) => void rows.push(...await benchSearch(folder)));
  await withTemporaryDirectory(async (folder) => void rows.push(...await benchEdits(folder)));
  await withTemporaryDirectory(async (folder) => void rows.push(await benchUndo(folder)));
  printReport("Tools", rows);
}
