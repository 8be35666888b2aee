import { assert, assertEquals, assertRejects } from "@std/assert";
import { Agent, BadRequestError } from "../../mod.ts";
import {
  createEvalRun,
  type EvalSet,
  formatHtmlReport,
  formatJunitReport,
  formatMarkdownReport,
  readEvalRun,
  resumeEvalRun,
  runEvalSet,
} from "../../src/eval/mod.ts";
import { reply, scriptedStream } from "../../src/testing/mod.ts";

function createSet(count = 3): EvalSet {
  return {
    id: "set",
    cases: Array.from({ length: count }, (_, index) => ({
      id: `case_${index + 1}`,
      userMessages: ["Go"],
      expectedResponse: { type: "contains", text: "Hello" },
    })),
  };
}

const createAgent = () =>
  new Agent({ model: "test/model", streamFn: scriptedStream([reply("Hello")]) });

async function useDirectory(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "swink_fixture_" });
  try {
    await use(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** Lists the files and directories in a directory, sorted. */
function listPaths(directory: string, prefix = ""): string[] {
  return [...Deno.readDirSync(directory)].flatMap(({ name, isDirectory }) => [
    prefix + name,
    ...isDirectory ? listPaths(`${directory}/${name}`, `${prefix}${name}/`) : [],
  ]).sort();
}

Deno.test("eval run: is not resumed after a file of a fixture has changed", async () => {
  await useDirectory(async (directory) => {
    const write = async (name: string, text: string) => {
      await Deno.mkdir(`${directory}/set/project/sub`, { recursive: true });
      await Deno.writeTextFile(`${directory}/set/project/${name}`, text);
    };
    await write("a.txt", "one");
    await write("sub/b.txt", "two");
    const [first, ...others] = createSet().cases;
    assert(first);
    const cases = [
      { ...first, fixture: "project" },
      ...others.map((other) => ({ ...other, fixture: "made by createDirectory()" })),
    ];
    const set: EvalSet = { id: "set", cases, directory: `${directory}/set` };
    using writer = await createEvalRun(`${directory}/run`, { set });
    writer[Symbol.dispose]();
    const resume = async (changed: EvalSet = set) => {
      using resumed = await resumeEvalRun(`${directory}/run`, { set: changed });
      return resumed.finished.length;
    };
    assertEquals(await resume(), 0);
    for (const [name, text] of [["a.txt", "One"], ["sub/b.txt", "one"], ["new.txt", ""]] as const) {
      const before = await Deno.readTextFile(`${directory}/set/project/${name}`).catch(() => null);
      await write(name, text);
      await assertRejects(() => resume(), BadRequestError, 'the fixture "project" has changed');
      if (before === null) await Deno.remove(`${directory}/set/project/${name}`);
      else await write(name, before);
      assertEquals(await resume(), 0);
    }
    await Deno.rename(`${directory}/set`, `${directory}/moved`);
    assertEquals(await resume({ ...set, directory: `${directory}/moved` }), 0);
    await assertRejects(() => resume(), BadRequestError, 'the fixture "project" has changed');

    // An evaluation of an earlier version has no hashes.
    const path = `${directory}/run/run.json`;
    const { fixtures, ...header } = JSON.parse(await Deno.readTextFile(path));
    assertEquals(Object.keys(fixtures), ["project"]);
    await Deno.writeTextFile(path, JSON.stringify(header));
    assertEquals(await resume(), 0);
  });
});

Deno.test("eval run: reports in a fixture are no part of it, so that it is resumed, and other pages are", async () => {
  await useDirectory(async (directory) => {
    const pages: Readonly<Record<string, string>> = {
      "index.html": "<!DOCTYPE html>\n<title>Evaluation of a</title>\n",
      "junit.xml": '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n</testsuites>\n',
      "notes.md": "# Evaluation of a\n\nNotes\n",
    };
    for (const [name, text] of Object.entries(pages)) {
      await Deno.writeTextFile(`${directory}/${name}`, text);
    }
    const [first] = createSet().cases;
    assert(first);
    const set: EvalSet = { id: "set", cases: [{ ...first, fixture: "." }], directory };
    const path = `${directory}/results/a`;
    const interrupted = await createEvalRun(path, { set, model: "test/model" });
    const run = await interrupted.finish();
    await Deno.mkdir(`${directory}/reports`);
    await Deno.writeTextFile(`${directory}/report.html`, formatHtmlReport(run));
    await Deno.writeTextFile(`${directory}/reports/report.xml`, formatJunitReport(run));
    await Deno.writeTextFile(`${directory}/reports/report.md`, formatMarkdownReport(run));
    using resumed = await resumeEvalRun(path, { set });
    assertEquals(resumed.finished, []);
    let paths: readonly string[] = [];
    await runEvalSet(set, async ({ getDirectory }) => {
      paths = listPaths(await getDirectory());
      return createAgent();
    });
    assertEquals(paths, ["index.html", "junit.xml", "notes.md", "reports", "results"]);
  });
});

Deno.test("eval run: evaluations and recordings in a fixture are no part of it", async () => {
  await useDirectory(async (directory) => {
    await Deno.writeTextFile(`${directory}/notes.txt`, "first");
    const [first] = createSet().cases;
    assert(first);
    const set: EvalSet = { id: "set", cases: [{ ...first, fixture: "." }], directory };
    const [a, b] = [`${directory}/results/a`, `${directory}/results/b`];
    const complete = await createEvalRun(a, { set });
    await runEvalSet(set, createAgent, { onResult: (result) => complete.append(result) });
    await complete.finish();
    const interrupted = await createEvalRun(b, { set });
    interrupted[Symbol.dispose]();
    const record = `${directory}/recording/model`;
    for (const state of ["new", "finished"]) {
      let paths: readonly string[] = [];
      await runEvalSet(set, async ({ getDirectory }) => {
        paths = listPaths(await getDirectory());
        return createAgent();
      }, { record });
      assertEquals(paths, ["notes.txt", "recording", "results"], `with a ${state} recording`);
    }
    using resumed = await resumeEvalRun(b, { set });
    assertEquals(resumed.finished, []);
    const { fixtures: before } = await readEvalRun(a);
    const { fixtures: after } = await readEvalRun(b);
    assertEquals(before, after);
  });
});
