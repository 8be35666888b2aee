/**
 * `--dry-run`: shows the first request of a run and the most that it can cost, and sends nothing.
 *
 * @module
 */

import type { Policy, RunOutcome } from "../../mod.ts";
import { estimateWorstCase, type WorstCase } from "../../src/policies/worst_case.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { formatNumber } from "../render/format_number.ts";
import { toJsonLine } from "../render/json_line.ts";
import { toPlainText } from "../render/plain_text.ts";
import { toShownUrl } from "../render/shown_url.ts";
import { setUpAgent } from "./agent/setup_agent.ts";
import { createOnDeviceError, isOnDevice } from "./model/provider_options.ts";
import { startPrompt } from "./prompt/prompt_events.ts";
import type { RunDependencies } from "./run_prompt.ts";
import type { ProjectRunSettings } from "./settings/settings.ts";

/** A request that was not sent. Its headers, which have the key, are left out. */
interface DryRequest {
  readonly method: string;
  readonly url: string;
  /** Size of the body. */
  readonly bytes: number;
  readonly body: unknown;
}

/**
 * Creates the first request of a run and prints it.
 *
 * @throws {UsageError} If the model runs in this process: it would reply, and the run would call tools.
 */
export async function runDry(
  settings: ProjectRunSettings,
  { prompt, interrupt: { signal }, host, onAgent }: RunDependencies,
): Promise<ExitCode> {
  const stop = new AbortController();
  let request: DryRequest | undefined;
  let estimate: WorstCase | undefined;
  const fetch: Host["fetch"] = async (input, init) => {
    request = await readRequest(new Request(input, init));
    stop.abort();
    throw stop.signal.reason;
  };
  const estimation: Policy = {
    name: "dry_run",
    preRequest: (context) => {
      estimate = estimateWorstCase(context, {});
    },
  };
  const options = { ...settings, policies: [estimation], needsKey: false, signal };
  await using setup = await setUpAgent(options, { ...host, fetch });
  if (isOnDevice(setup.model, settings)) throw createOnDeviceError("--dry-run", setup.model);
  onAgent?.(setup.agent);
  const started = startPrompt(setup.agent, prompt, {
    schema: settings.schema,
    signal: AbortSignal.any([signal, stop.signal]),
  });
  let outcome: RunOutcome | undefined;
  for await (const event of started.events) {
    if (event.type === "agent_end") outcome = event;
  }
  await started.getAnswer();
  if (!request) {
    const reason = outcome?.error?.message ?? outcome?.stoppedBy?.reason ?? "the run ended";
    await host.terminal.messages.write(`swink: there is no request: ${toPlainText(reason)}\n`);
    return ExitCode.failed;
  }
  const { outputFormat } = settings;
  const format = outputFormat === "text" ? formatText : formatJson;
  await host.terminal.output.write(format(request, estimate));
  return ExitCode.ok;
}

async function readRequest(request: Request): Promise<DryRequest> {
  const bytes = new Uint8Array(await request.arrayBuffer());
  const text = new TextDecoder().decode(bytes);
  const { method, url } = request;
  return { method, url: toShownUrl(url), bytes: bytes.length, body: parseBody(text) };
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function formatText(
  { method, url, bytes, body }: DryRequest,
  estimate: WorstCase | undefined,
): string {
  const cost = estimate?.total.cost.total ?? null;
  const facts = [
    `${formatNumber(bytes)} bytes`,
    ...(estimate ? [`about ${formatNumber(estimate.input.usage.total)} tokens`] : []),
    cost === null ? "the price is unknown" : `costs at most $${cost.toFixed(4)}`,
  ];
  return toPlainText(`${method} ${url}\n${facts.join(", ")}\n\n${JSON.stringify(body, null, 2)}\n`);
}

function formatJson(request: DryRequest, estimate: WorstCase | undefined): string {
  return toJsonLine({
    type: "dry_run",
    ...request,
    inputTokens: estimate?.input.usage.total ?? null,
    maxCost: estimate?.total.cost.total ?? null,
  });
}
