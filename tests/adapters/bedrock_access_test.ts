import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { withEnvironment } from "../../adapters/bedrock/environment.ts";
import { type BedrockOptions, createBedrock } from "../../adapters/bedrock/mod.ts";
import { BEDROCK_PACKAGES } from "../../adapters/bedrock/packages.ts";
import { connect } from "../../adapters/connect.ts";
import { systemClock } from "../../src/core/ports/ports.ts";
import type { StreamRequest } from "../../src/core/streams/stream.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import {
  type ReplayFetch,
  replayFetch,
  type ReplayRequest,
} from "../../src/testing/replay_fetch.ts";
import { encodeEventStream, EVENT_STREAM_TYPE } from "./bedrock_frames.ts";
import { createMinimalRequest } from "./wire_tests.ts";

const MODEL = "anthropic.claude-sonnet-4-5-20250929-v1:0";
const CREDENTIALS = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI+bPxRfiCYEXAMPLE",
};
const NOW = Date.UTC(2025, 0, 2, 3, 4, 5, 678);
const CLOCK = { ...systemClock, now: () => NOW };

interface RequestSettings {
  readonly modelId?: string;
  readonly apiKey?: string;
}

function createReplyFetch(): ReplayFetch {
  const body = encodeEventStream([
    { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "Hi" } } },
    { messageStop: { stopReason: "end_turn" } },
    { metadata: { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } } },
  ]);
  return replayFetch({ headers: { "content-type": EVENT_STREAM_TYPE }, body });
}

function createBedrockRequest({ modelId = MODEL, apiKey }: RequestSettings = {}): StreamRequest {
  const { options: _options, ...request } = createMinimalRequest("bedrock", modelId);
  return { ...request, options: apiKey === undefined ? {} : { apiKey } };
}

async function sendToBedrock(
  options: BedrockOptions,
  request = createBedrockRequest(),
): Promise<ReplayRequest> {
  const fetch = createReplyFetch();
  const { error } = await readReply(createBedrock({ clock: CLOCK, fetch, ...options })(request));
  const [first] = fetch.requests;
  assert(first, error?.message);
  return first;
}

async function captureError(
  options: BedrockOptions,
  request = createBedrockRequest(),
): Promise<[string, string]> {
  const { error } = await readReply(createBedrock(options)(request));
  return [error?.code ?? "", error?.message ?? ""];
}

/** Computes the signature as AWS specifies it, without a package. */
async function computeSignature({ url, headers, body }: ReplayRequest): Promise<string> {
  const { host, pathname, searchParams } = new URL(url);
  searchParams.sort();
  const names = headers.get("authorization")?.match(/SignedHeaders=([^,]+)/)?.[1]?.split(";") ?? [];
  const canonical = [
    "POST",
    pathname.split("/").map(encodeURIComponent).join("/"),
    searchParams.toString(),
    ...names.map((name) => `${name}:${name === "host" ? host : headers.get(name)}`),
    "",
    names.join(";"),
    await sha256(body),
  ].join("\n");
  const date = headers.get("x-amz-date") ?? "";
  const scope = [date.slice(0, 8), "us-east-1", "bedrock", "aws4_request"];
  const text = ["AWS4-HMAC-SHA256", date, scope.join("/"), await sha256(canonical)].join("\n");
  let key = new TextEncoder().encode(`AWS4${CREDENTIALS.secretAccessKey}`);
  for (const part of [...scope, text]) key = await hmac(key, part);
  return key.toHex();
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(digest).toHex();
}

async function hmac(
  key: Uint8Array<ArrayBuffer>,
  text: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const imported = await crypto.subtle.importKey("raw", key, algorithm, false, ["sign"]);
  return new Uint8Array(
    await crypto.subtle.sign("HMAC", imported, new TextEncoder().encode(text)),
  );
}

Deno.test("createBedrock(): signs a request with the credentials, region and time", async () => {
  const request = await sendToBedrock({ region: "us-east-1", credentials: CREDENTIALS });
  const authorization = request.headers.get("authorization") ?? "";
  assertStringIncludes(
    authorization,
    "Credential=AKIDEXAMPLE/20250102/us-east-1/bedrock/aws4_request",
  );
  assertEquals(request.headers.get("x-amz-date"), "20250102T030405Z");
  assertStringIncludes(authorization, `Signature=${await computeSignature(request)}`);
});

Deno.test("createBedrock(): sends and signs the session token and the caller's headers [A138]", async () => {
  const credentials = { ...CREDENTIALS, sessionToken: "session-token" };
  const headers = { "x-amz-bedrock-trace": "on" };
  const request = await sendToBedrock({
    region: "us-east-1",
    credentials: () => credentials,
    headers,
  });
  assertEquals(request.headers.get("x-amz-security-token"), "session-token");
  const authorization = request.headers.get("authorization") ?? "";
  assertStringIncludes(
    authorization,
    "SignedHeaders=accept;host;x-amz-bedrock-trace;x-amz-date;x-amz-security-token",
  );
  assertStringIncludes(authorization, `Signature=${await computeSignature(request)}`);
});

Deno.test("createBedrock(): signs the query of the baseUrl, which each request gets", async () => {
  const baseUrl = "https://gateway.example/aws?team=x&a=1";
  const options = { region: "us-east-1", credentials: CREDENTIALS, baseUrl };
  const request = await sendToBedrock(options);
  assertMatch(
    request.url,
    /^https:\/\/gateway\.example\/aws\/model\/.*\/converse-stream\?team=x&a=1$/,
  );
  const authorization = request.headers.get("authorization") ?? "";
  assertStringIncludes(authorization, `Signature=${await computeSignature(request)}`);
});

Deno.test("createBedrock(): prefers the request's key, then the API key, then the credentials", async () => {
  const options = { region: "us-east-1", credentials: CREDENTIALS, bearerToken: "ABSK-adapter" };
  const adapter = await sendToBedrock(options);
  assertEquals(adapter.headers.get("authorization"), "Bearer ABSK-adapter");
  assertEquals(adapter.headers.get("x-amz-date"), null);
  const request = await sendToBedrock(options, createBedrockRequest({ apiKey: "ABSK-request" }));
  assertEquals(request.headers.get("authorization"), "Bearer ABSK-request");
  const own = await sendToBedrock({ region: "us-east-1", headers: { Authorization: "Custom" } });
  assertEquals(own.headers.get("authorization"), "Custom");
});

Deno.test("createBedrock(): derives the URL from the region, the model's ARN or baseUrl", async () => {
  const url = async (options: BedrockOptions, modelId = MODEL) =>
    (await sendToBedrock({ bearerToken: "k", ...options }, createBedrockRequest({ modelId }))).url;
  assertStringIncludes(
    await url({ region: "eu-central-1" }),
    "//bedrock-runtime.eu-central-1.amazonaws.com/",
  );
  assertStringIncludes(await url({ region: "cn-north-1" }), ".cn-north-1.amazonaws.com.cn/");
  const arn = "arn:aws:bedrock:ap-south-1:123456789012:inference-profile/global.anthropic.claude-x";
  assertEquals(
    await url({}, arn),
    `https://bedrock-runtime.ap-south-1.amazonaws.com/model/${
      encodeURIComponent(arn)
    }/converse-stream`,
  );
  assertStringIncludes(
    await url({ baseUrl: "https://vpce.example/" }),
    "https://vpce.example/model/",
  );
});

Deno.test("createBedrock(): fails with a hint when credentials or region are missing", async () => {
  const [code, message] = await captureError({ region: "us-east-1" });
  assertEquals(code, "auth_error");
  assertStringIncludes(message, "pass credentials or bearerToken to createBedrock()");
  const [regionCode, regionMessage] = await captureError({ bearerToken: "k" });
  assertEquals(regionCode, "bad_request");
  assertStringIncludes(regionMessage, "region");
  const failing = { region: "us-east-1", credentials: () => Promise.reject(new Error("no role")) };
  assertEquals(await captureError(failing), [
    "auth_error",
    "Could not load the credentials for bedrock: no role",
  ]);
});

Deno.test("createBedrock(): redacts the secret key and the session token in errors", async () => {
  const credentials = { ...CREDENTIALS, sessionToken: "FwoGZXIvYXdzEXAMPLE" };
  const body =
    `{"message":"${credentials.secretAccessKey} and ${credentials.sessionToken} are bad"}`;
  const fetch = replayFetch({ status: 403, body });
  const bedrock = createBedrock({ region: "us-east-1", credentials, fetch });
  const { error } = await readReply(bedrock(createBedrockRequest()));
  assertEquals(error?.message, "bedrock answered 403: [redacted] and [redacted] are bad");
});

Deno.test("createBedrock(): ends the reply when aborted while the credentials load", async () => {
  const controller = new AbortController();
  const credentials = () => {
    queueMicrotask(() => controller.abort("enough"));
    return new Promise<undefined>(() => {});
  };
  const bedrock = createBedrock({ region: "us-east-1", credentials });
  const { stopReason } = await readReply(
    bedrock({ ...createBedrockRequest(), signal: controller.signal }),
  );
  assertEquals(stopReason, "aborted");
});

function createEnvironment(
  variables: Record<string, string>,
): (name: string) => string | undefined {
  return (name) => variables[name];
}

Deno.test("connect(): reads region and credentials from AWS variables at the first request", async () => {
  const fetch = createReplyFetch();
  const readNames: string[] = [];
  const variables: Record<string, string> = {
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    AWS_SESSION_TOKEN: "session-token",
  };
  const streamFn = connect({
    fetch,
    env: (name) => {
      readNames.push(name);
      return variables[name];
    },
  });
  assertEquals(readNames, []);
  assertEquals((await readReply(streamFn(createBedrockRequest()))).text, "Hi");
  const [request] = fetch.requests;
  assertStringIncludes(request?.url ?? "", "bedrock-runtime.us-east-1.");
  assertEquals(request?.headers.get("x-amz-security-token"), "session-token");

  variables["AWS_BEARER_TOKEN_BEDROCK"] = "ABSK-from-env";
  await readReply(streamFn(createBedrockRequest()));
  assertEquals(fetch.requests[1]?.headers.get("authorization"), "Bearer ABSK-from-env");
});

Deno.test("connect(): names both kinds of Bedrock keys when neither is set", async () => {
  const env = createEnvironment({ AWS_REGION: "us-east-1", HOME: "/nowhere" });
  const { error } = await readReply(connect({ env })(createBedrockRequest()));
  assertEquals(error?.code, "auth_error");
  assertStringIncludes(error?.message ?? "", "AWS_BEARER_TOKEN_BEDROCK");
  assertStringIncludes(error?.message ?? "", "AWS_ACCESS_KEY_ID");
});

const FILES: Readonly<Record<string, string>> = {
  "/home/me/.aws/credentials": [
    "# a comment",
    "[default]",
    "aws_access_key_id = AKID-default",
    "aws_secret_access_key = secret-default",
    "",
    "[work]",
    "aws_access_key_id=AKID-work",
    "aws_secret_access_key=secret/with=signs+",
    "aws_session_token=token-work",
    "[sso]",
    "sso_session = mine",
  ].join("\r\n"),
  "/home/me/.aws/config": "[profile work]\nregion = eu-west-1\n[default]\nregion = us-west-2\n",
};

async function loadProfile(variables: Record<string, string>): Promise<unknown> {
  const env = createEnvironment({ HOME: "/home/me", ...variables });
  const { region, credentials } = withEnvironment({}, env, (path) => FILES[path]);
  return { region, ...(typeof credentials === "function" && await credentials()) };
}

Deno.test("withEnvironment(): reads the profile AWS_PROFILE or the default profile without variables", async () => {
  assertEquals(await loadProfile({}), {
    region: "us-west-2",
    accessKeyId: "AKID-default",
    secretAccessKey: "secret-default",
    sessionToken: undefined,
  });
  assertEquals(await loadProfile({ AWS_PROFILE: "work" }), {
    region: "eu-west-1",
    accessKeyId: "AKID-work",
    secretAccessKey: "secret/with=signs+",
    sessionToken: "token-work",
  });
  assertEquals(await loadProfile({ AWS_PROFILE: "sso" }), { region: undefined });
  assertEquals(await loadProfile({ AWS_PROFILE: "absent" }), { region: undefined });
  assertEquals(
    await loadProfile({ AWS_SHARED_CREDENTIALS_FILE: "/none", AWS_CONFIG_FILE: "/none" }),
    {
      region: undefined,
    },
  );
});

Deno.test("withEnvironment(): the credentials file takes precedence over the config file", async () => {
  const files: Readonly<Record<string, string>> = {
    keys: "[default]\naws_access_key_id = AKID-keys\naws_secret_access_key = secret-keys\n",
    config:
      "[default]\naws_access_key_id = AKID-config\naws_secret_access_key = x\nregion = eu-west-1\n",
  };
  const env = createEnvironment({ AWS_SHARED_CREDENTIALS_FILE: "keys", AWS_CONFIG_FILE: "config" });
  const { region, credentials } = withEnvironment({}, env, (path) => files[path]);
  assertEquals(region, "eu-west-1");
  assertEquals(typeof credentials === "function" && await credentials(), {
    accessKeyId: "AKID-keys",
    secretAccessKey: "secret-keys",
    sessionToken: undefined,
  });
});

Deno.test("BEDROCK_PACKAGES: has the version ranges of deno.json", async () => {
  const { imports } = JSON.parse(
    await Deno.readTextFile(new URL("../../deno.json", import.meta.url)),
  );
  for (const [name, version] of Object.entries(BEDROCK_PACKAGES)) {
    assertEquals(imports[name], `npm:${name}@${version}`);
  }
});

Deno.test("adapters/mod.ts: imports neither npm package of Bedrock", async () => {
  const { modules } = await loadModuleGraph("adapters/mod.ts");
  assertFalse(modules.some((specifier) => /aws4fetch|smithy/.test(specifier)));
});

async function loadModuleGraph(path: string): Promise<{ modules: string[] }> {
  const file = new URL(`../../${path}`, import.meta.url);
  const args = ["info", "--json", "--no-lock", "--no-config", "--quiet", file.href];
  const { stdout } = await new Deno.Command(Deno.execPath(), { args }).output();
  const { modules } = JSON.parse(new TextDecoder().decode(stdout));
  return {
    modules: modules.map(({ specifier }: { specifier: string }) => specifier),
  };
}

for (
  const message of [
    `Invocation of model ID ${MODEL} with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.`,
    "The provided model identifier is invalid.",
  ]
) {
  Deno.test(`createBedrock(): an error says which ids models have after "${message.slice(0, 25)}…"`, async () => {
    const fetch = () =>
      Promise.resolve(
        Response.json({ message }, {
          status: 400,
          headers: { "x-amzn-errortype": "ValidationException" },
        }),
      );
    const [, text] = await captureError({ fetch, bearerToken: "key", region: "us-east-1" });
    assertStringIncludes(text, message);
    assertStringIncludes(text, "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0");
  });
}

Deno.test("createBedrock(): an error says how requests count less against an exhausted quota", async () => {
  const message = "Too many tokens, please wait before trying again.";
  const headers = { "x-amzn-errortype": "ThrottlingException" };
  const fetch = () => Promise.resolve(Response.json({ message }, { status: 429, headers }));
  const [code, text] = await captureError({ fetch, bearerToken: "key", region: "us-east-1" });
  assertEquals(code, "model_throttled");
  assertStringIncludes(text, message);
  assertStringIncludes(text, "streamOptions: { maxTokens } sets a lower limit");
});
