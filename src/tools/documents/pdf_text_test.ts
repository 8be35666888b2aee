import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createDeadline } from "../../../tests/deadline.ts";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { findWorkerProcesses, waitForBusyWorker } from "../../../tests/sandbox/worker_processes.ts";
import { AbortedError, BadRequestError } from "../../core/errors/errors.ts";
import { extractPdfText } from "./pdf_text.ts";

/** A document with one page per text. */
function createPdf(...texts: readonly string[]): string {
  const pages = texts.map((text, index) => {
    const content = `BT /F1 24 Tf 20 100 Td (${text}) Tj ET`;
    const [page, stream] = [10 + index * 2, 11 + index * 2];
    return `${page} 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents ${stream} 0 R` +
      `/Resources<</Font<</F1 5 0 R>>>>>>endobj\n` +
      `${stream} 0 obj<</Length ${content.length}>>stream\n${content}\nendstream endobj\n`;
  });
  const kids = texts.map((_, index) => `${10 + index * 2} 0 R`).join(" ");
  return `%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n` +
    `2 0 obj<</Type/Pages/Kids[${kids}]/Count ${texts.length}>>endobj\n` +
    `5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n${pages.join("")}` +
    "trailer<</Root 1 0 R>>";
}

Deno.test("read_file: returns the text of the pages of a PDF document", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.pdf", createPdf("Hello PDF", "Second page"));
  const { text } = await workspace.callTool("read_file", { path: "a.pdf" });
  assertEquals(text, "1\t[Page 1]\n2\tHello PDF\n3\t\n4\t[Page 2]\n5\tSecond page");
  const part = await workspace.callTool("read_file", { path: "a.pdf", offset: 5 });
  assertStringIncludes(part.text, "5\tSecond page");
});

Deno.test("read_file: returns the text of a PDF document that begins behind a header", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.pdf", `${"Header: value\r\n".repeat(60)}\r\n\0${createPdf("Hello PDF")}`);
  const { text } = await workspace.callTool("read_file", { path: "a.pdf" });
  assertEquals(text, "1\t[Page 1]\n2\tHello PDF");
});

Deno.test("read_file: rejects a damaged PDF document and one without text with a reason", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("bad.pdf", "%PDF-1.4\nnothing");
  const bad = await workspace.callTool("read_file", { path: "bad.pdf" });
  assertEquals(bad.isError, true);
  assertStringIncludes(bad.text, "The PDF document cannot be read");
  workspace.writeFile("empty.pdf", createPdf(""));
  const empty = await workspace.callTool("read_file", { path: "empty.pdf" });
  assertStringIncludes(empty.text, "1 pages without text");
});

/** A document with the text "日本語" in a font with an encoding whose table is not part of the package, behind another text. */
function createJapanesePdf(otherText: string): string {
  const font = "/Type/Font/Subtype/Type0/BaseFont/A/Encoding/UniJIS-UTF16-H/DescendantFonts[7 0 R]";
  const system = "/CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 2>>";
  const content = "BT /F2 24 Tf 20 100 Td <65e5672c8a9e> Tj ET";
  return createPdf(otherText).replace("/F1 5 0 R", "/F1 5 0 R/F2 6 0 R")
    .replace("/Contents 11 0 R", "/Contents[11 0 R 8 0 R]")
    .replace(
      "trailer",
      `6 0 obj<<${font}>>endobj\n` +
        `7 0 obj<</Type/Font/Subtype/CIDFontType0/BaseFont/A${system}/FontDescriptor 9 0 R>>endobj\n` +
        `8 0 obj<</Length ${content.length}>>stream\n${content}\nendstream endobj\n` +
        "9 0 obj<</Type/FontDescriptor/FontName/A/Flags 4/FontBBox[0 0 9 9]/ItalicAngle 0" +
        "/Ascent 8/Descent -2/CapHeight 7/StemV 8>>endobj\ntrailer",
    );
}

Deno.test("read_file: says that text of a PDF document is missing whose encoding is not supported", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("part.pdf", createJapanesePdf("Hello PDF"));
  const part = await workspace.callTool("read_file", { path: "part.pdf" });
  assertStringIncludes(
    part.text,
    "[Text is missing, because its encoding is not supported (UniJIS-UTF16-H): convert",
  );
  assertStringIncludes(part.text, "Hello PDF");
  workspace.writeFile("all.pdf", createJapanesePdf(""));
  const all = await workspace.callTool("read_file", { path: "all.pdf" });
  assertEquals(all.isError, true);
  assertStringIncludes(all.text, "has 1 pages whose text has an encoding that is not supported");
});

Deno.test("read_file: an abort ends the reading of a PDF document", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.pdf", createPdf("Hello PDF"));
  const controller = new AbortController();
  const call = workspace.callTool("read_file", { path: "a.pdf" }, controller.signal);
  setTimeout(() => controller.abort(), 0);
  assertStringIncludes((await call).text, "cancelled");
});

/** A small document with a page of 10 ** 12 texts: each form draws the next one ten times. Its reader never waits. */
function createEndlessPdf(): Uint8Array<ArrayBuffer> {
  const resources = (form: number) => `/Resources<</Font<</F1 5 0 R>>/XObject<</X ${form} 0 R>>>>`;
  const createStream = (id: number, dictionary: string, content: string) =>
    `${id} 0 obj<<${dictionary}/Length ${content.length}>>stream\n${content}\nendstream endobj\n`;
  const forms = Array.from({ length: 13 }, (_, level) =>
    createStream(
      20 + level,
      `/Type/XObject/Subtype/Form/BBox[0 0 9 9]${resources(21 + level)}`,
      level < 12 ? "/X Do ".repeat(10) : "BT /F1 24 Tf 20 100 Td (Text) Tj ET",
    ));
  const page = `/Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 11 0 R${resources(20)}`;
  return new TextEncoder().encode(
    `%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n` +
      `2 0 obj<</Type/Pages/Kids[10 0 R]/Count 1>>endobj\n` +
      `5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n` +
      `10 0 obj<<${page}>>endobj\n${createStream(11, "", "/X Do")}${forms.join("")}` +
      "trailer<</Root 1 0 R>>",
  );
}

const ignore = Deno.build.os !== "linux"; // without /proc

interface Limits {
  readonly timeoutMs: number;
  readonly maxGrowthBytes: number;
}

// The memory limits of the tests, in the arguments of their processes, differ by some bytes.
const EXCEEDED: readonly [problem: string, limits: Limits, message: string][] = [
  [
    "keeps a processor busy",
    { timeoutMs: 1_000, maxGrowthBytes: 2_000_000_001 },
    "The PDF document takes longer than 1 s to read",
  ],
  [
    "allocates memory",
    { timeoutMs: 60_000, maxGrowthBytes: 100_000_001 },
    "The PDF document cannot be read: it takes too much memory",
  ],
];

for (const [problem, limits, message] of EXCEEDED) {
  Deno.test({
    name: `extractPdfText(): ends with its process when a document ${problem}`,
    ignore,
    async fn() {
      const started = performance.now();
      const reading = extractPdfText(createEndlessPdf(), { signal: createDeadline(), ...limits });
      const [error] = await Promise.all([
        assertRejects(() => reading, BadRequestError),
        waitForBusyWorker(limits.maxGrowthBytes, { busyTime: 0 }),
      ]);
      assertEquals(error.message, message);
      const duration = performance.now() - started;
      assertEquals(await findWorkerProcesses(limits.maxGrowthBytes), []);
      assertEquals(duration < limits.timeoutMs + 20_000, true, `${duration} ms`);
    },
  });
}

Deno.test({
  name: "extractPdfText(): an abort ends the process while it reads an endless document",
  ignore,
  async fn() {
    const maxGrowthBytes = 2_000_000_002;
    const controller = new AbortController();
    const options = { signal: controller.signal, maxGrowthBytes };
    const reading = extractPdfText(createEndlessPdf(), options);
    await waitForBusyWorker(maxGrowthBytes);
    controller.abort();
    await assertRejects(() => reading, AbortedError, "Reading was cancelled");
    assertEquals(await findWorkerProcesses(maxGrowthBytes), []);
  },
});

// A process that is starting has used no processor time yet.
const ENDED: readonly [state: string, wait: { busyTime?: number }, maxGrowthBytes: number][] = [
  ["reads", {}, 2_000_000_003],
  ["starts", { busyTime: 0 }, 2_000_000_004],
];

for (const [state, wait, maxGrowthBytes] of ENDED) {
  Deno.test({
    name: `extractPdfText(): reports a process that the system ends while it ${state}`,
    ignore,
    async fn() {
      const options = { signal: createDeadline(), maxGrowthBytes };
      const reading = extractPdfText(createEndlessPdf(), options);
      Deno.kill(await waitForBusyWorker(maxGrowthBytes, wait), "SIGKILL");
      await assertRejects(
        () => reading,
        BadRequestError,
        "The PDF document cannot be read: its process ended (SIGKILL)",
      );
    },
  });
}

Deno.test("extractPdfText(): reads a document without the permission to start a process", async () => {
  const directory = await Deno.makeTempDir({ prefix: "swink_test_" });
  const module = JSON.stringify(new URL("./pdf_text.ts", import.meta.url));
  const code = `import { extractPdfText } from ${module};
const bytes = new TextEncoder().encode(${JSON.stringify(createPdf("Hello PDF"))});
console.log(await extractPdfText(bytes, { signal: new AbortController().signal }));`;
  await Deno.writeTextFile(`${directory}/program.ts`, code);
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--quiet", "--no-check", "--no-prompt", "--no-config", "--no-lock"],
      ...["--allow-read", `${directory}/program.ts`],
    ],
    stderr: "inherit",
    signal: createDeadline(),
  }).output();
  await Deno.remove(directory, { recursive: true });
  assertEquals(new TextDecoder().decode(stdout), "[Page 1]\nHello PDF\n\n");
});
