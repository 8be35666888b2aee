import { assert, assertEquals } from "@std/assert";
import { EventCodec } from "../../adapters/bedrock/event_codec.ts";
import { EventStreamParser } from "../../adapters/bedrock/event_stream_parser.ts";
import { loadSigning } from "../../adapters/bedrock/packages.ts";
import { codec } from "./bedrock_frames.ts";
import { getFixtureDirectory } from "./wire_fixtures.ts";

/** Signing vectors of requests that `fetch` cannot send, with the reason. */
const UNSENDABLE_VECTORS: Readonly<Record<string, string>> = {
  "get-header-key-duplicate": "fetch joins the values of a header",
  "get-relative-unnormalized": "URL normalizes relative paths",
  "get-relative-relative-unnormalized": "URL normalizes relative paths",
  "get-slash-dot-slash-unnormalized": "URL normalizes relative paths",
  "get-slash-pointless-dot-unnormalized": "URL normalizes relative paths",
  "get-slash-unnormalized": "only for services that keep repeated slashes",
  "get-slashes-unnormalized": "only for services that keep repeated slashes",
};

const directory = getFixtureDirectory();
const signingVectors = directory && `${directory}/aws-sigv4`;
const streamVectors = directory && `${directory}/aws-eventstream-vectors`;

for (const name of listDirectories(signingVectors)) {
  Deno.test({
    name: `AWS signing: vector ${name}${
      UNSENDABLE_VECTORS[name] ? ` (${UNSENDABLE_VECTORS[name]})` : ""
    }`,
    ignore: UNSENDABLE_VECTORS[name] !== undefined,
    async fn() {
      const { AwsV4Signer } = await loadSigning();
      const vector = `${signingVectors}/${name}`;
      const { credentials, ...context } = JSON.parse(read(`${vector}/context.json`));
      const { method, url, headers, body } = parseRequest(read(`${vector}/request.txt`));
      if (context.sign_body) headers.set("x-amz-content-sha256", await sha256(body));
      const signer = new AwsV4Signer({
        method,
        url,
        headers,
        ...(body !== "" && { body }),
        accessKeyId: credentials.access_key_id,
        secretAccessKey: credentials.secret_access_key,
        ...(credentials.token && !context.omit_session_token &&
          { sessionToken: credentials.token }),
        region: context.region,
        service: context.service,
        datetime: context.timestamp.replace(/[:-]/g, ""),
        allHeaders: true,
        // The paths of the vectors are not encoded, those of a URL are.
        singleEncode: true,
      });
      assertEquals(
        await signer.canonicalString(),
        read(`${vector}/header-canonical-request.txt`).trimEnd(),
      );
      assertEquals(await signer.signature(), read(`${vector}/header-signature.txt`).trim());
    },
  });
}

if (signingVectors !== undefined) {
  Deno.test("AWS signing: signs a Bedrock request with a session token and a body", async () => {
    const { AwsV4Signer } = await loadSigning();
    const example = JSON.parse(read(`${signingVectors}/bedrock-mantle-openai-python.json`));
    const { request, expected, credentials, region, service } = example;
    const signer = new AwsV4Signer({
      method: request.method,
      url: request.url,
      headers: {
        "content-type": request.contentType,
        "x-amz-content-sha256": await sha256(request.body),
      },
      body: request.body,
      ...credentials,
      region,
      service,
      datetime: expected.date,
      allHeaders: true,
    });
    assertEquals(await signer.authHeader(), expected.authorization);
  });
}

for (const name of listFiles(streamVectors && `${streamVectors}/positive`, ".bin")) {
  Deno.test(`AWS event stream: decodes vector ${name}`, async () => {
    const path = `${streamVectors}/positive/${name}`;
    const expected = JSON.parse(read(path.replace(".bin", ".decoded.json")));
    const { headers } = codec.decode(Deno.readFileSync(path));
    const decoded = Object.entries(headers).map(([name, { value }]) => [name, toPlainValue(value)]);
    assertEquals(
      Object.fromEntries(decoded),
      Object.fromEntries(
        expected.headers.map((
          { name, type, value }: VectorHeader,
        ) => [name, decodeValue(type, value)]),
      ),
    );
    const frames = await readFrames(path);
    assertEquals(frames.map(({ body }) => body), [atob(expected.payload)]);
  });
}

for (const name of listFiles(streamVectors && `${streamVectors}/negative`, ".bin")) {
  Deno.test(`AWS event stream: rejects vector ${name}`, async () => {
    const frames = readFrames(`${streamVectors}/negative/${name}`);
    const outcome = await frames.then(() => "decoded", (error) => error.message);
    assert(/checksum|in the middle of a message/.test(outcome), outcome);
  });
}

if (directory === undefined) {
  Deno.test({ name: "AWS vectors: SWINK_WIRE_FIXTURES is not set", ignore: true, fn() {} });
}

interface VectorHeader {
  readonly name: string;
  readonly type: number;
  readonly value: string | number | boolean;
}

/** Decodes text, bytes and ids, which are base64 in the vectors. */
function decodeValue(type: number, value: VectorHeader["value"]): VectorHeader["value"] {
  return type === 6 || type === 7 || type === 9 ? atob(String(value)) : value;
}

/** Converts a header value to the form that {@linkcode decodeValue} returns. */
function toPlainValue(value: unknown): unknown {
  if (value instanceof Uint8Array) return String.fromCharCode(...value);
  if (value instanceof Date) return value.getTime();
  if (typeof value === "object" && value !== null) return Number(value);
  const isId = typeof value === "string" && /^[0-9a-f-]{36}$/.test(value);
  return isId ? String.fromCharCode(...Uint8Array.fromHex(value.replaceAll("-", ""))) : value;
}

async function readFrames(path: string): Promise<{ body: string }[]> {
  const codec = new EventCodec();
  await codec.load();
  const parser = new EventStreamParser((message) => codec.decode(message));
  const frames: { body: string }[] = [];
  for (const byte of Deno.readFileSync(path)) {
    parser.feed(Uint8Array.of(byte), (frame) => frames.push(frame));
  }
  parser.end();
  return frames;
}

function parseRequest(
  text: string,
): { method: string; url: string; headers: Headers; body: string } {
  const [head = "", body = ""] = text.split(/\r?\n\r?\n/);
  // A line that begins with a space continues the previous line.
  const [requestLine = "", ...lines] = head.replace(/\r?\n[ \t]+/g, " ").trimEnd().split(/\r?\n/);
  const [, method = "", path = ""] = /^(\S+) (.*) HTTP\/1\.1$/.exec(requestLine) ?? [];
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return { method, url: `https://${headers.get("host")}${path}`, headers, body };
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(digest).toHex();
}

function read(path: string): string {
  return Deno.readTextFileSync(path);
}

function listDirectories(path: string | undefined): string[] {
  if (path === undefined) return [];
  const entries = [...Deno.readDirSync(path)].filter(({ isDirectory }) => isDirectory);
  return entries.map(({ name }) => name).sort();
}

function listFiles(path: string | undefined, ending: string): string[] {
  if (path === undefined) return [];
  return [...Deno.readDirSync(path)].map(({ name }) => name).filter((name) => name.endsWith(ending))
    .sort();
}
