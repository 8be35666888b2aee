import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { AgentError, BadRequestError } from "../../mod.ts";
import { type DownloadProgress, ModelStore, type PullOptions } from "../../src/local/mod.ts";
import { CONTENT, createDownload, exists, NAME } from "./download_fixture.ts";
import { toSha256 } from "./hub_server.ts";
import { createTinyModel } from "./tiny_model.ts";

Deno.test("ModelStore: downloads a file through a redirect, and verifies it by the hub's SHA-256", async () => {
  await using download = await createDownload({ HF_TOKEN: "hf_secret" });
  const progress: DownloadProgress[] = [];
  await download.run({ onProgress: (step) => progress.push(step) });
  assertEquals(await Deno.readFile(download.path), CONTENT);
  assertEquals(await exists(download.part), false);
  assertEquals(progress[0], { receivedBytes: 0, totalBytes: 50_000 });
  assertEquals(progress.at(-1), { receivedBytes: 50_000, totalBytes: 50_000 });
  // Only the hub gets the token.
  assertEquals(download.hub.requests, [
    {
      host: "hub",
      path: "/owner/repo/resolve/main/model.gguf",
      range: null,
      authorization: "Bearer hf_secret",
    },
    { host: "content", path: "/blob", range: null, authorization: null },
  ]);
  await download.run();
  assertEquals(download.hub.requests.length, 2, "a present file is not requested again");
});

Deno.test("ModelStore: creates the directory of the models", async () => {
  await using download = await createDownload();
  const directory = `${download.store.directory}/new/models`;
  const env = (name: string) => name === "HF_ENDPOINT" ? download.hub.endpoint : undefined;
  const store = new ModelStore({ directory, env });
  assertEquals(await store.list(), []);
  const place = await store.find(NAME);
  await store.download(place);
  assertEquals(await Deno.readFile(place.path), CONTENT);
});

Deno.test("ModelStore: refuses a file that the disk cannot take, and keeps the part", async () => {
  const sha256 = await toSha256(CONTENT);
  const source = { repository: "a/b", file: "c.gguf", size: 1e15, sha256 };
  for (const present of [0, 30_000]) {
    await using download = await createDownload();
    const { hub, store, path, part } = download;
    if (present > 0) await Deno.writeFile(part, CONTENT.subarray(0, present));
    hub.behavior = { isDirect: true, hidesLength: true };
    const error = await assertRejects(
      () => store.download({ name: "c", path, source }),
      BadRequestError,
    );
    assertMatch(
      error.message,
      /^The disk of \S+ has [\d.]+ .B free, and 1000000\.0 GB are needed: /,
    );
    assertEquals(await Deno.stat(part).then(({ size }) => size, () => 0), present);
  }
});

Deno.test("ModelStore: keeps a part when a proxy sends a page of its own", async () => {
  const page = new TextEncoder().encode("<html>Sign in to this network</html>");
  const source = {
    repository: "a/b",
    file: "c.gguf",
    size: 50_000,
    sha256: await toSha256(CONTENT),
  };
  for (const present of [0, 30_000]) {
    await using download = await createDownload();
    const { hub, store, path, part } = download;
    if (present > 0) await Deno.writeFile(part, CONTENT.subarray(0, present));
    hub.behavior = { isDirect: true, content: page, ignoresRange: true };
    const place = { name: "c", path, source };
    const error = await assertRejects(() => store.download(place), AgentError);
    assertStringIncludes(error.message, "has sent a file of 36 bytes instead of 50000");
    assertEquals(await Deno.stat(part).then(({ size }) => size, () => 0), present);
    hub.behavior = {};
    await store.download(place);
    assertEquals(hub.requests.at(-1)?.range, present > 0 ? "bytes=30000-" : null);
    assertEquals(await Deno.readFile(path), CONTENT);
  }
});

Deno.test("ModelStore: keeps a part when a proxy sends a page of unknown length", async () => {
  await using download = await createDownload();
  const { hub, part, path, waits } = download;
  await Deno.writeFile(part, CONTENT.subarray(0, 30_000));
  const page = new TextEncoder().encode("<html>Sign in to this network</html>");
  hub.behavior = {
    isDirect: true,
    content: page,
    ignoresRange: true,
    hidesLength: true,
    contentType: "text/html; charset=utf-8",
  };
  assertStringIncludes((await download.fail()).message, "has sent a page (text/html) instead of");
  assertEquals(waits, []);
  assertEquals(await Deno.readFile(part), CONTENT.subarray(0, 30_000));
  hub.behavior = {};
  await download.run();
  assertEquals(hub.requests.at(-1)?.range, "bytes=30000-");
  assertEquals(await Deno.readFile(path), CONTENT);
});

Deno.test("ModelStore: starts again where the server ignores the range, or the part is too long", async () => {
  for (const [part, behavior] of [[10, { ignoresRange: true }], [60_000, {}]] as const) {
    await using download = await createDownload();
    await Deno.writeFile(download.part, new Uint8Array(part));
    download.hub.behavior = behavior;
    await download.run();
    assertEquals(await Deno.readFile(download.path), CONTENT);
  }
});

Deno.test("ModelStore: removes a file with another content than the expected one", async () => {
  const other = CONTENT.map((byte) => byte ^ 1);
  const behaviors = [{ content: other }, { sha256: await toSha256(other) }];
  for (const behavior of behaviors) {
    await using download = await createDownload();
    download.hub.behavior = behavior;
    const error = await download.fail();
    assertEquals([error.code, error.retryable], ["network_error", false]);
    assertStringIncludes(error.message, "is not the expected one and was removed");
    assertEquals([await exists(download.path), await exists(download.part)], [false, false]);
  }
});

Deno.test("ModelStore: replaces a part that is damaged, or of another version of the file", async () => {
  for (const behavior of [{}, { ignoresRange: true }]) {
    await using download = await createDownload();
    await Deno.writeFile(download.part, new Uint8Array(100));
    download.hub.behavior = behavior;
    await download.run();
    assertEquals(await Deno.readFile(download.path), CONTENT);
  }
});

Deno.test("ModelStore: removes a file that is wrong after a damaged part was replaced", async () => {
  await using download = await createDownload();
  await Deno.writeFile(download.part, new Uint8Array(100));
  download.hub.behavior = { content: CONTENT.map((byte) => byte ^ 1) };
  assertStringIncludes((await download.fail()).message, "is not the expected one and was removed");
  assertEquals([await exists(download.path), await exists(download.part)], [false, false]);
});

Deno.test("ModelStore: a complete part is verified and not downloaded again", async () => {
  await using download = await createDownload();
  await Deno.writeFile(download.part, CONTENT);
  await download.run();
  assertEquals(await Deno.readFile(download.path), CONTENT);
  const { requests } = download.hub;
  assertEquals(requests.map(({ range }) => range), ["bytes=50000-", "bytes=50000-"]);
  await Deno.remove(download.path);
  // With a pinned SHA-256, the hub is not needed.
  await Deno.writeFile(download.part, CONTENT);
  const source = {
    repository: "a/b",
    file: "c.gguf",
    size: 50_000,
    sha256: await toSha256(CONTENT),
  };
  await download.store.download({ name: "c", path: download.path, source });
  assertEquals(requests.length, 2);
  // A part of the right size with another content is not the file.
  await Deno.remove(download.path);
  await Deno.writeFile(download.part, CONTENT.map((byte) => byte ^ 1));
  await download.run();
  assertEquals(await Deno.readFile(download.path), CONTENT);
});

Deno.test("ModelStore: refuses content that is longer than the file, and a file without a SHA-256", async () => {
  await using download = await createDownload();
  download.hub.behavior = { size: 100 };
  assertStringIncludes(
    (await download.fail()).message,
    "has sent a file of 50000 bytes instead of 100",
  );
  // The end of a body without a length is not known before.
  download.hub.behavior = { size: 100, stallAfter: 1_000, hidesLength: true };
  assertStringIncludes((await download.fail()).message, "bytes or more instead of 100");
  download.hub.behavior = { sha256: null };
  assertStringIncludes((await download.fail()).message, "reports no SHA-256 of model.gguf");
});

Deno.test("ModelStore: reports what a user can do about each status of the hub", async () => {
  await using download = await createDownload();
  const expected = [
    [401, "auth_error", false, "check the name; if the model has a license"],
    [403, "auth_error", false, "and set HF_TOKEN"],
    [404, "model_not_found", false, "has no"],
    [429, "model_throttled", true, "(HTTP 429); try again in 7 s"],
    [503, "network_error", true, "(HTTP 503); try again in 7 s"],
    [418, "network_error", false, "HTTP 418"],
  ] as const;
  for (const [status, code, retryable, text] of expected) {
    download.hub.behavior = { status };
    const error = await download.fail();
    assertEquals([error.code, error.retryable, error.status], [code, retryable, status]);
    assertStringIncludes(error.message, text);
  }
});

Deno.test("ModelStore: describes the download by hand where the hub cannot be reached", async () => {
  await using download = await createDownload({ HF_ENDPOINT: "http://127.0.0.1:9" });
  const { code, message } = await download.fail();
  assertEquals(code, "network_error");
  assertStringIncludes(message, "http://127.0.0.1:9/owner/repo/resolve/main/model.gguf");
  assertStringIncludes(message, "swink models local import FILE");
  assertEquals(await exists(download.part), false, "an empty part is removed");
});

Deno.test("ModelStore: reports why a request failed, without the address of a signed redirect", async () => {
  await using download = await createDownload();
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = listener.addr;
  listener.close();
  download.hub.behavior = { location: `http://127.0.0.1:${port}/blob?signature=secret` };
  const { message } = await download.fail();
  assertMatch(message, new RegExp(`^Cannot reach 127\\.0\\.0\\.1:${port}: .*refused`, "i"));
  assertEquals(message.includes("secret"), false, message);
});

Deno.test("ModelStore: follows neither endless redirects nor those to other protocols", async () => {
  await using download = await createDownload();
  download.hub.behavior = { location: `${download.hub.endpoint}/again` };
  assertStringIncludes((await download.fail()).message, "redirects without end");
  for (const location of ["file:///etc/passwd", "ftp://127.0.0.1/", "http://"]) {
    download.hub.behavior = { location };
    assertStringIncludes((await download.fail()).message, "an address that is not allowed");
  }
});

Deno.test("ModelStore: reports a server that stops sending", async () => {
  await using download = await createDownload({}, { idleTimeoutMs: 50 });
  download.hub.behavior = { stallAfter: 1_000 };
  const { code, message } = await download.fail();
  assertEquals(code, "network_error");
  assertStringIncludes(message, "has sent nothing for 50 ms");
});

Deno.test("ModelStore: describes the download by hand where the hub does not answer", async () => {
  await using download = await createDownload();
  const { directory } = download.store;
  const silent = (_input: unknown, init?: RequestInit) =>
    new Promise<Response>((_, reject) => {
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    });
  const store = new ModelStore({ directory, fetch: silent, connectTimeoutMs: 20 });
  const place = await store.find(NAME);
  const error = await assertRejects(() => store.download(place), AgentError);
  assertStringIncludes(error.message, "has not answered within 20 ms. Without this connection");
});

Deno.test("ModelStore: has no time limit that is longer than a timer can be", async () => {
  await using download = await createDownload({}, { idleTimeoutMs: 2 ** 32 });
  await download.run();
  assertEquals(await Deno.readFile(download.path), CONTENT);
});

Deno.test("ModelStore: lists incomplete files, and not as models", async () => {
  await using download = await createDownload();
  const { store } = download;
  assertEquals(await store.listIncomplete(), []);
  await Deno.writeFile(download.part, CONTENT.subarray(0, 100));
  await Deno.writeFile(`${store.directory}/qwen3-4b.gguf.part`, CONTENT);
  await Deno.writeFile(`${store.directory}/copy.gguf.import`, CONTENT.subarray(0, 7));
  await Deno.writeFile(`${store.directory}/other.part`, CONTENT);
  await Deno.mkdir(`${store.directory}/directory.gguf.part`);
  assertEquals(await store.list(), []);
  const incomplete = await store.listIncomplete();
  assertEquals(incomplete.map(({ name, size, preset }) => [name, size, preset?.name]), [
    ["copy", 7, undefined],
    ["owner--repo--model@main", 100, undefined],
    ["qwen3-4b", 50_000, "qwen3-4b"],
  ]);
  for (const { name } of incomplete) await store.remove(name);
  assertEquals(await store.listIncomplete(), []);
});

Deno.test("ModelStore: refuses a part of a model, and files that are none, before it downloads them", async () => {
  await using download = await createDownload();
  const { store } = download;
  for (const file of ["big-00001-of-00003.gguf", "Q4/big-00002-of-00003.GGUF"]) {
    const error = await assertRejects(() => store.find(`hf:owner/repo/${file}`), AgentError);
    assertEquals(error.code, "bad_request");
    assertStringIncludes(error.message, "llama-gguf-split --merge");
  }
  await assertRejects(() => store.find("hf:a/b/model.safetensors"), AgentError, "Invalid model");
});

Deno.test("ModelStore: an abort ends a download and keeps its part", async () => {
  await using download = await createDownload();
  const controller = new AbortController();
  download.hub.behavior = { stallAfter: 30_000 };
  const onProgress = ({ receivedBytes }: DownloadProgress) => {
    if (receivedBytes > 0) controller.abort("enough");
  };
  const error = await download.run({ signal: controller.signal, onProgress }).catch((reason) =>
    reason
  );
  assertEquals(error, "enough");
  assert((await Deno.stat(download.part)).size > 0);
  download.hub.behavior = {};
  await download.run();
  assertEquals(await Deno.readFile(download.path), CONTENT);
});

Deno.test("ModelStore: does not remove a part that a download writes", async () => {
  await using download = await createDownload();
  const { promise: started, resolve } = Promise.withResolvers<void>();
  download.hub.behavior = { stallAfter: 30_000 };
  const controller = new AbortController();
  const onProgress = ({ receivedBytes }: DownloadProgress) => {
    if (receivedBytes > 0) resolve();
  };
  const running = download.run({ signal: controller.signal, onProgress }).catch((reason) => reason);
  await started;
  const error = await assertRejects(() => download.store.remove(NAME), AgentError);
  assertStringIncludes(error.message, "is being downloaded");
  assertEquals(await exists(download.part), true);
  controller.abort("enough");
  assertEquals(await running, "enough");
  await download.store.remove(NAME);
  assertEquals(await exists(download.part), false);
});

Deno.test("ModelStore: never takes the part of another process for its own", async () => {
  await using download = await createDownload();
  const { part, path } = download;
  let isReplaced = false;
  // Another process removes the part, and begins one of its own.
  const onProgress = ({ receivedBytes }: DownloadProgress) => {
    if (receivedBytes < CONTENT.length || isReplaced) return;
    isReplaced = true;
    Deno.removeSync(part);
    Deno.writeTextFileSync(part, "the part of another process");
  };
  const error = await download.fail({ onProgress });
  assertStringIncludes(error.message, "was removed");
  assertEquals(await exists(path), false);
  assertEquals(await Deno.readTextFile(part), "the part of another process");
});

Deno.test("ModelStore: callers of one process share a download, and continue it when the first one gives up", async () => {
  await using download = await createDownload();
  const { promise: stalled, resolve } = Promise.withResolvers<void>();
  download.hub.behavior = { stallAfter: 30_000, onStall: resolve };
  const first = new AbortController();
  const impatient = new AbortController();
  const progress: number[] = [];
  const onProgress = ({ receivedBytes }: DownloadProgress) => progress.push(receivedBytes);
  const run = (options: PullOptions) => download.run(options).catch((reason) => reason);
  // The others find its download, and any of them may continue it.
  const started = run({ signal: first.signal });
  await stalled;
  const ends = [
    started,
    run({ onProgress }),
    run({ signal: impatient.signal }),
    run({ onProgress }),
  ];
  impatient.abort("impatient");
  assertEquals(await ends[2], "impatient");
  assertEquals(download.hub.requests.length, 2);
  download.hub.behavior = {};
  first.abort("enough");
  assertEquals(await Promise.all(ends), ["enough", undefined, "impatient", undefined]);
  assertEquals(await Deno.readFile(download.path), CONTENT);
  assertEquals(download.hub.requests.length, 4);
  assertEquals(progress.at(-1), 50_000);
});

Deno.test("ModelStore: callers of one process get the failure of a download", async () => {
  await using download = await createDownload();
  download.hub.behavior = { status: 404 };
  const errors = await Promise.all([download.fail(), download.fail(), download.fail()]);
  assertEquals(errors.map(({ status }) => status), [404, 404, 404]);
  // The next call tries again.
  download.hub.behavior = {};
  await download.run();
});

Deno.test("ModelStore: a listener that throws does not fail a download of other callers", async () => {
  await using download = await createDownload();
  const onProgress = () => {
    throw new Error("listener");
  };
  await Promise.all([download.run(), download.run({ onProgress })]);
  assertEquals(await Deno.readFile(download.path), CONTENT);
  assertEquals(download.hub.requests.length, 2);
});

Deno.test("ModelStore: an imported file does not get the name of a preset in other letters", async () => {
  await using download = await createDownload();
  const file = `${download.store.directory}/../Qwen3-4B.gguf`;
  await Deno.writeFile(file, createTinyModel());
  const error = await assertRejects(() => download.store.importFile(file), AgentError);
  // They are one file on systems that do not distinguish the letters.
  assertStringIncludes(error.message, "it is not the file of the preset qwen3-4b; rename it");
  await Deno.remove(file);
});

Deno.test("ModelStore: reports what the system does not allow", async () => {
  await using download = await createDownload();
  await Deno.mkdir(download.part);
  assertStringIncludes((await download.fail()).message, `Cannot write ${download.part}: `);
  await Deno.remove(download.part);
  await Deno.mkdir(`${download.path}/x`, { recursive: true });
  assertStringIncludes((await download.fail()).message, `Cannot save ${download.path}: `);
  await Deno.writeTextFile(`${download.store.directory}/owner--repo--other.gguf.part`, "x");
  await download.store.remove("owner--repo--other");
  const error = await assertRejects(() => download.store.remove("owner--repo--model@main"));
  assertStringIncludes(String(error), "Cannot remove");
  await Deno.writeTextFile(download.part, "x");
  const file = new ModelStore({ directory: download.part });
  assertStringIncludes(String(await assertRejects(() => file.list())), "Cannot read");
});

Deno.test("ModelStore: finds presets, files and imported models, and nothing else", async () => {
  await using download = await createDownload({ HOME: "/home/me" });
  const { store } = download;
  const preset = await store.find("qwen3-4b");
  assertEquals(preset.source?.repository, "Qwen/Qwen3-4B-GGUF");
  assert(preset.path.startsWith(store.directory));
  assertEquals(await store.find("./a/b.gguf"), { name: "b.gguf", path: "./a/b.gguf" });
  assertEquals(await store.find("~/b.gguf"), { name: "b.gguf", path: "/home/me/b.gguf" });
  const blob = `${store.directory}/../blob`;
  await Deno.writeTextFile(blob, "x");
  assertEquals(await store.find(blob), { name: "blob", path: blob });
  await Deno.remove(blob);
  for (const name of ["unknown", "../x", "", "a/b", "qwen3-4b\0"]) {
    const error = await assertRejects(() => store.find(name), AgentError);
    assertEquals(error.code, "model_not_found");
    assertStringIncludes(error.message, "qwen3-0.6b");
  }
  for (const name of ["hf:", "hf:a/b", "hf:a/b/../c.gguf", "hf:a/b/c.gguf@x@y", "hf:a/b//c.gguf"]) {
    await assertRejects(() => store.find(name), AgentError, "Invalid model");
  }
});

Deno.test("ModelStore: lists models that are links to files", async () => {
  await using download = await createDownload();
  await download.run();
  const { directory } = download.store;
  await Deno.symlink(download.path, `${directory}/link.gguf`);
  await Deno.symlink("/nowhere", `${directory}/broken.gguf`);
  await Deno.mkdir(`${directory}/directory.gguf`);
  const names = (await download.store.list()).map(({ name, size }) => [name, size]);
  assertEquals(names, [["link", 50_000], ["owner--repo--model@main", 50_000]]);
  await download.store.remove("link");
  assert(await exists(download.path));
});

Deno.test("ModelStore: finds and removes each model that it lists, whatever the name of its file", async () => {
  await using download = await createDownload();
  const { store } = download;
  for (const name of ["my model (1).gguf", "Modèle+2.gguf", "half done.gguf.part"]) {
    await Deno.writeTextFile(`${store.directory}/${name}`, "x");
  }
  const stored = await store.list();
  assertEquals(stored.map(({ name }) => name), ["Modèle+2", "my model (1)"]);
  for (const { name, path } of stored) {
    assertEquals(await store.find(name), { name, path });
    await store.remove(name);
  }
  await store.remove("half done");
  assertEquals([...await store.list(), ...await store.listIncomplete()], []);
});

Deno.test("ModelStore: removes models and parts, and no other files", async () => {
  await using download = await createDownload();
  await download.run();
  assertEquals((await download.store.list()).map(({ name, size }) => [name, size]), [
    ["owner--repo--model@main", 50_000],
  ]);
  await download.store.remove("owner--repo--model@main");
  assertEquals(await download.store.list(), []);
  const long = `owner/${"r".repeat(90)}/${"f".repeat(90)}`;
  const { path } = await download.store.find(`hf:${long}.gguf@main-version`);
  await Deno.writeTextFile(path, "x");
  await download.store.remove(`hf:${long}.gguf@main-version`);
  assertEquals(await download.store.list(), []);
  await Deno.writeTextFile(`${download.store.directory}/../outside.gguf`, "x");
  for (const name of ["../outside", "none", ""]) {
    const error = await assertRejects(() => download.store.remove(name), AgentError);
    assertEquals(error.code, "model_not_found");
  }
  await Deno.remove(`${download.store.directory}/../outside.gguf`);
});
