/**
 * Measures the coding tools: confined commands, search, many edits of one file, and undoing a turn.
 *
 * @module
 */

import type { AgentTool } from "../mod.ts";
import { testToolContext } from "../src/testing/test_tool_context.ts";
import { ChangeLog, codingTools, createSandbox, type Sandbox } from "../src/tools/mod.ts";
import { median, printReport, type Row } from "./report.ts";

const RUNS = 15;
const FILES = 20_000;

const context = testToolContext();

async function callTool(
  tools: readonly AgentTool[],
  name: string,
  args: Record<string, unknown>,
): Promise<void> {
  const result = await tools.find((tool) => tool.name === name)?.execute(args, context);
  if (typeof result === "object" && result.isError) throw new Error(JSON.stringify(result.content));
}

async function measureTime(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

/** Runs two functions alternately; returns the median time of each, without the first run. */
async function measureInterleaved(
  runs: number,
  first: () => Promise<unknown>,
  second: () => Promise<unknown>,
): Promise<readonly [number, number]> {
  const times: [number[], number[]] = [[], []];
  for (let run = 0; run <= runs; run++) {
    const pair = [await measureTime(first), await measureTime(second)] as const;
    if (run === 0) continue;
    times[0].push(pair[0]);
    times[1].push(pair[1]);
  }
  return [median(times[0]), median(times[1])];
}

async function withTemporaryDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "swink_bench_" });
  try {
    await run(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function benchCommands(directory: string): Promise<Row> {
  await using unconfined = createSandbox({ cwd: directory, confinement: "off" });
  await using confined = createSandbox({ cwd: directory });
  const [unconfinedTools, confinedTools] = [unconfined, confined].map((sandbox) =>
    codingTools({ sandbox })
  );
  const [unconfinedMs, confinedMs] = await measureInterleaved(
    RUNS,
    () => callTool(unconfinedTools ?? [], "bash", { command: "true" }),
    () => callTool(confinedTools ?? [], "bash", { command: "true" }),
  );
  const value = `${confinedMs.toFixed(1)} ms vs. ${unconfinedMs.toFixed(1)} ms`;
  return [
    "confined vs. unconfined command",
    value,
    `+${(confinedMs - unconfinedMs).toFixed(1)} ms`,
    "≤ 60 ms",
  ];
}

/** Trees in which commands of plan mode run: an ordinary project, and one with many packages. */
const PLANNED_TREES = [
  { name: "2,000 files", directories: 200, limit: "≤ 30 ms" },
  { name: "50,000 files", directories: 5_000, limit: "≤ 300 ms" },
] as const;

/** Measures the time by which a command of plan mode takes longer, because files with secrets are hidden from it. */
async function benchReadOnlyCommands(
  directory: string,
  { name, directories, limit }: (typeof PLANNED_TREES)[number],
): Promise<Row> {
  for (let index = 0; index < directories; index++) {
    const path = `${directory}/d${index % 20}/d${index % 200}/d${index}`;
    await Deno.mkdir(path, { recursive: true });
    for (let file = 0; file < 10; file++) await Deno.writeTextFile(`${path}/file_${file}.ts`, "");
    if (index % 100 === 0) await Deno.writeTextFile(`${path}/.env`, "");
  }
  await using writing = createSandbox({ cwd: directory });
  await using reading = createSandbox({ cwd: directory, readOnly: true });
  const [writingTools, readingTools] = [writing, reading].map((sandbox) =>
    codingTools({ sandbox })
  );
  const [writingMs, readingMs] = await measureInterleaved(
    RUNS,
    () => callTool(writingTools ?? [], "bash", { command: "true" }),
    () => callTool(readingTools ?? [], "bash", { command: "true" }),
  );
  const value = `${readingMs.toFixed(1)} ms vs. ${writingMs.toFixed(1)} ms`;
  const added = `+${(readingMs - writingMs).toFixed(1)} ms`;
  return [`read-only vs. writing command in ${name}`, value, added, limit];
}

const WORDS =
  "const let function return import export async await class type string number result error path file"
    .split(" ");

interface SearchedTree {
  readonly name: string;
  readonly files: number;
  /** Number of lines of each file. */
  readonly lines: (random: (below: number) => number) => number;
  /** Limits of the ratios to `rg`, with it and without it. */
  readonly limits: readonly [withRg: string, withoutRg: string];
}

const TREES: readonly SearchedTree[] = [
  {
    name: `${FILES} files of 2 KB`,
    files: FILES,
    lines: (random) => 10 + random(60),
    limits: ["≤ 2 × rg", "–"],
  },
  {
    name: "200 files of 500 KB",
    files: 200,
    lines: () => 12_000,
    limits: ["≤ 2 × rg", "≤ 4 × rg"],
  },
];

const SEARCHES: readonly string[] = ["needle_in", "import \\w+_in", "const .*needle"];

async function createFiles(directory: string, tree: SearchedTree): Promise<void> {
  let state = 1;
  const random = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below;
  for (let file = 0; file < tree.files; file++) {
    const path = `${directory}/d${file % 200}`;
    if (file < 200) await Deno.mkdir(path);
    const lines = Array.from(
      { length: tree.lines(random) },
      () => Array.from({ length: 7 }, () => WORDS[random(WORDS.length)]).join(" "),
    );
    if (file % (tree.files / 20) === 7) lines.push("const import needle_in_haystack");
    await Deno.writeTextFile(`${path}/f${file}.ts`, lines.join("\n"));
  }
}

async function benchSearch(directory: string, tree: SearchedTree): Promise<Row[]> {
  await createFiles(directory, tree);
  await using sandbox = createSandbox({ cwd: directory });
  const rows: Row[] = [];
  for (const pattern of SEARCHES) rows.push(...await benchPattern(sandbox, tree, pattern));
  return rows;
}

async function benchPattern(
  sandbox: Sandbox,
  tree: SearchedTree,
  pattern: string,
): Promise<Row[]> {
  const withRg = codingTools({ sandbox });
  const withoutRg = codingTools({ sandbox: withoutPrograms(sandbox) });
  const rg = () =>
    new Deno.Command("rg", { args: ["--line-number", pattern, sandbox.root], stdout: "null" })
      .output();
  const search = (tools: readonly AgentTool[]) => callTool(tools, "search_files", { pattern });
  const name = `search for ${pattern} in ${tree.name}`;
  try {
    await rg();
  } catch {
    const time = await measureTime(() => search(withoutRg));
    return [[`${name}, rg not installed`, `${time.toFixed(0)} ms`, "–", tree.limits[1]]];
  }
  const compareWithRg = async (
    title: string,
    tools: readonly AgentTool[],
    limit: string,
  ): Promise<Row> => {
    const [toolMs, rgMs] = await measureInterleaved(5, () => search(tools), rg);
    const value = `${toolMs.toFixed(0)} ms vs. ${rgMs.toFixed(0)} ms`;
    return [`${name} ${title}`, value, `${(toolMs / rgMs).toFixed(1)} ×`, limit];
  };
  return [
    await compareWithRg("with rg, vs. rg", withRg, tree.limits[0]),
    await compareWithRg("without rg, vs. rg", withoutRg, tree.limits[1]),
  ];
}

/** Wraps a sandbox so that no program can be started, as if none was installed. */
function withoutPrograms(sandbox: Sandbox): Sandbox {
  return {
    root: sandbox.root,
    files: sandbox.files,
    startCommand: (command, options) => sandbox.startCommand(command, options),
    getOutputPath: (name) => sandbox.getOutputPath(name),
    net: sandbox.net,
    setNet: (net) => sandbox.setNet(net),
    describe: () => sandbox.describe(),
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
}

async function benchEdits(directory: string): Promise<Row[]> {
  await using sandbox = createSandbox({ cwd: directory });
  const tools = codingTools({ sandbox });
  const text = Array.from({ length: 20_000 }, (_, line) => `line ${line} `.padEnd(49, ".")).join(
    "\n",
  );
  const editAll = async (count: number) => {
    await callTool(tools, "write_file", { path: "big.txt", content: text });
    const edits = Array.from({ length: count }, (_, edit) => {
      const line = `line ${edit * 20} `;
      return { old_string: `${line}.`, new_string: `${line}!` };
    });
    return await measureTime(() => callTool(tools, "edit_file", { path: "big.txt", edits }));
  };
  await editAll(10);
  const [halfBatchMs, batchMs] = [await editAll(500), await editAll(1_000)];
  const editOneByOne = async (count: number) => {
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
  const [halfMs, fullMs] = [await editOneByOne(500), await editOneByOne(1_000)];
  return [
    [
      "1,000 vs. 500 edits of a 1 MB file, one call",
      `${batchMs.toFixed(0)} ms vs. ${halfBatchMs.toFixed(0)} ms`,
      `${(batchMs / halfBatchMs).toFixed(2)} ×`,
      "linear: 2 ×",
    ],
    [
      "1,000 vs. 500 edits of a 1 MB file, one call per edit",
      `${fullMs.toFixed(0)} ms vs. ${halfMs.toFixed(0)} ms`,
      `${(fullMs / halfMs).toFixed(2)} ×`,
      "linear: 2 ×",
    ],
  ];
}

async function benchUndo(directory: string): Promise<Row> {
  const changeLog = new ChangeLog();
  await using sandbox = createSandbox({ cwd: directory });
  const tools = codingTools({ sandbox, changeLog });
  for (let file = 0; file < 1_000; file++) {
    await Deno.writeTextFile(`${directory}/f${file}.txt`, `before ${file}\n`.repeat(50));
    await callTool(tools, "write_file", { path: `f${file}.txt`, content: `after ${file}\n` });
  }
  const time = await measureTime(() => changeLog.undoTurn(sandbox.files));
  return ["undo of a turn with 1,000 changed files", `${time.toFixed(0)} ms`, "–", "≤ 1,000 ms"];
}

if (import.meta.main) {
  const rows: Row[] = [];
  await withTemporaryDirectory(async (directory) => void rows.push(await benchCommands(directory)));
  for (const tree of PLANNED_TREES) {
    await withTemporaryDirectory(async (directory) =>
      void rows.push(await benchReadOnlyCommands(directory, tree))
    );
  }
  for (const tree of TREES) {
    await withTemporaryDirectory(async (directory) =>
      void rows.push(...await benchSearch(directory, tree))
    );
  }
  await withTemporaryDirectory(async (directory) => void rows.push(...await benchEdits(directory)));
  await withTemporaryDirectory(async (directory) => void rows.push(await benchUndo(directory)));
  printReport("Tools", rows);
}
