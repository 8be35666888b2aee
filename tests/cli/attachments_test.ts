/**
 * Files that are added to the prompt.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { findReferences } from "../../cli/run/prompt/attachments.ts";
import { typeConversation } from "./conversation/plain_conversation.ts";
import { createFakeHost, scriptedReply } from "./fake_host.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

/** A complete image of 3 × 2 pixels. */
const GIF = Uint8Array.from(
  atob("R0lGODlhAwACAIAAAAAAAP///ywAAAAAAwACAAACAoRRADs="),
  (character) => character.charCodeAt(0),
);

/** Runs a prompt in the directory `p`; returns the content of the prompt as it is sent. */
async function send(
  prompt: string,
  files: Readonly<Record<string, string | Uint8Array>>,
  ...args: string[]
) {
  await using home = await createTemporaryDirectory({ "p/x": "", ...files });
  const host = createFakeHost({
    model: [scriptedReply("Done.")],
    env: { ANTHROPIC_API_KEY: "k", HOME: home.path },
  });
  const options = args.map((arg) => arg.replace("HOME", home.path));
  const code = await main(["run", "--cwd", `${home.path}/p`, ...options, prompt], host);
  const [request] = host.requests;
  const content = request ? JSON.parse(request.body).messages[0].content : [];
  return {
    code,
    messages: host.messages.replaceAll(home.path, "HOME"),
    text: content.filter(({ type }: { type: string }) => type === "text")
      .map(({ text }: { text: string }) => text).join(""),
    images: content.filter(({ type }: { type: string }) => type === "image").length,
  };
}

Deno.test("swink run: adds the text of files that the prompt names", async () => {
  const files = { "p/a.txt": "one\n", "p/b c.md": "# two" };
  const { text } = await send('Compare @a.txt, @"b c.md" and @eva.', files);
  assertEquals(
    text,
    'Compare @a.txt, @"b c.md" and @eva.\n\n<file path="a.txt">\none\n</file>\n\n' +
      '<file path="b c.md">\n# two\n</file>',
  );
});

Deno.test("swink run: adds images, by path and by name", async () => {
  const files = { "p/a.gif": GIF, "b.gif": GIF };
  const { text, images } = await send("Look at @a.gif", files, "-i", "HOME/b.gif");
  assertEquals([text, images], ["Look at @a.gif", 2]);
});

Deno.test({
  name: "swink run: adds an image from a pipe",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using home = await createTemporaryDirectory({ "a.gif": GIF });
    const pipe = `${home.path}/pipe`;
    await new Deno.Command("mkfifo", { args: [pipe] }).output();
    const write = (file: string) =>
      new Deno.Command("sh", { args: ["-c", 'cat "$0" > "$1"', file, pipe] }).output();
    const [sent] = await Promise.all([send("Look", {}, "-i", pipe), write(`${home.path}/a.gif`)]);
    assertEquals([sent.text, sent.images], ["Look", 1]);
    const [refused] = await Promise.all([send("Look", {}, "-i", pipe), write("/dev/null")]);
    assertEquals(refused.code, 2);
    assertStringIncludes(refused.messages, "must be a PNG, JPEG, GIF or WebP image");
  },
});

Deno.test("swink run: leaves out what is outside of the directory, too large, or neither text nor image", async () => {
  const files = {
    "secret.txt": "secret",
    "p/large.txt": "x".repeat(100_001),
    "p/binary": new Uint8Array([0, 1, 2, 255]),
    "p/latin.txt": new Uint8Array([0xe4, 0x62]),
    "p/broken.gif": GIF.subarray(0, 20),
    "p/dir/y": "",
  };
  const prompt = "@../secret.txt @/etc/passwd @large.txt @binary @latin.txt @broken.gif @dir @none";
  const { text, images, messages } = await send(prompt, files);
  assertEquals([text, images], [prompt, 0]);
  const outside = "it is outside of the working directory, or usually holds secrets";
  assertEquals(messages.split("\n").filter((line) => line.startsWith("warning: ")), [
    `warning: @../secret.txt was not added: ${outside}`,
    `warning: @/etc/passwd was not added: ${outside}`,
    "warning: @large.txt was not added: it is larger than 100 kB",
    "warning: @binary was not added: it is neither text nor an image",
    "warning: @latin.txt was not added: it is no text in UTF-8",
    'warning: @broken.gif was not added: it cannot be read: "broken.gif" begins like an image (image/gif), but is damaged or incomplete',
    "warning: @dir was not added: it is a directory, not a regular file",
  ]);
});

Deno.test("swink run: adds no file that usually holds secrets, and none that piped text names", async () => {
  const files = { "p/.env": "KEY=1", "p/keys/server.pem": "key", "p/a.txt": "one" };
  assertEquals(
    (await send("Read @.env @keys/server.pem", files)).text,
    "Read @.env @keys/server.pem",
  );
  await using home = await createTemporaryDirectory(files);
  await Deno.symlink(".env", `${home.path}/p/notes.txt`);
  const linked = createFakeHost({
    model: [scriptedReply("Done.")],
    env: { ANTHROPIC_API_KEY: "k", HOME: home.path },
  });
  await main(["run", "--cwd", `${home.path}/p`, "Read @notes.txt"], linked);
  assertEquals(linked.requests[0]?.body.includes("KEY=1"), false);
  const host = createFakeHost({
    model: [scriptedReply("Done.")],
    input: "see @a.txt",
    env: { ANTHROPIC_API_KEY: "k", HOME: home.path },
  });
  await main(["run", "--cwd", `${home.path}/p`, "Fix", "-"], host);
  const [{ text }] = JSON.parse(host.requests[0]?.body ?? "").messages[0].content;
  assertEquals(text, "Fix\n\n<stdin>\nsee @a.txt\n</stdin>");
});

Deno.test("conversation: warns about a file that is not added", async () => {
  await using conversation = await typeConversation({
    args: ["See @.env"],
    files: { "p/.env": "KEY=1", "p/b/c": "" },
    model: [scriptedReply("Done."), scriptedReply("Done.")],
    typed: ["See @b", "/quit"],
  });
  assertStringIncludes(conversation.transcript, "warning: @.env was not added: it ");
  assertStringIncludes(
    conversation.outputs[0] ?? "",
    "warning: @b was not added: it is a directory",
  );
});

Deno.test("swink run --image: rejects what is no image", async () => {
  const check = async (path: string) => {
    const { code, messages } = await send(
      "Look",
      { "a.txt": "x", "b.gif": GIF.subarray(0, 20) },
      "-i",
      path,
    );
    assertEquals(code, 2);
    return messages;
  };
  const prefix = 'swink: Invalid value "HOME/';
  assertEquals(
    await check("HOME/none.png"),
    `${prefix}none.png" for --image: the file does not exist\n`,
  );
  assertEquals(
    await check("HOME/a.txt"),
    `${prefix}a.txt" for --image: must be a PNG, JPEG, GIF or WebP image\n`,
  );
  assertStringIncludes(await check("HOME/b.gif"), "damaged or incomplete");
  assertStringIncludes(await check("HOME/p"), "the file is a directory");
});

Deno.test("findReferences(): finds paths after blanks, without punctuation", () => {
  assertEquals(findReferences('@a, (@b) x@c @d/e.ts. @"f g"! @ @@ @a'), ["a", "d/e.ts", "f g"]);
});
