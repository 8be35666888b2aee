/**
 * The agents of an evaluation: those of `swink run`, without a user and without a project other than the fixture.
 *
 * @module
 */

import { type AgentError, AuthError, type ModelSpec } from "../../mod.ts";
import type { EvalAgentRequest, MakeAgent } from "../../src/eval/mod.ts";
import type { Chaos, ChaosFault } from "../../src/testing/mod.ts";
import { ConfigurationError } from "../host/cli_error.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import { overrideTerminal } from "../host/override_terminal.ts";
import { type LoadedProject, loadProject } from "../project/load_project.ts";
import { listProjectContent } from "../project/project_content.ts";
import { type AgentSetup, setUpAgent } from "../run/agent/setup_agent.ts";
import type { EvalSettings } from "./eval_settings.ts";
import { findModelUrl, getModelDirectory } from "./model_directories.ts";

/** Options for `createMakeAgent()`. */
export interface MakeAgentOptions {
  /** The settings of the evaluation. */
  readonly settings: EvalSettings;
  /** The model; that of a case precedes it. */
  readonly model: ModelSpec;
  /** Ends the wait for a key. */
  readonly signal: AbortSignal;
  /** Called when a run starts. */
  readonly onStart: (request: EvalAgentRequest) => void;
  /** Called with the error of a run. */
  readonly onError: (error: AgentError) => void;
}

/** Returns the function that creates the agent of a run. */
export function createMakeAgent(options: MakeAgentOptions, host: Host): MakeAgent {
  const { settings: { seeds }, onStart, onError } = options;
  // Once, since recordings can be large.
  const recordedUrl = findUrl(options);
  return async (request) => {
    onStart(request);
    const faults = seeds && await createFaults(request.seed);
    const setup = await createSetup(request, { ...options, recordedUrl, faults }, host)
      .catch((error) => {
        // Such as that of a key command, which each run would have.
        if (error instanceof ConfigurationError) onError(new AuthError(error.message));
        throw error;
      });
    const { agent } = setup;
    agent.subscribe((event) => {
      if (event.type === "agent_end" && event.error) onError(event.error);
    });
    if (faults) agent.setTools(agent.state.tools.map(faults.wrapTool));
    return setup;
  };
}

/** The faults of a run. The clock of the program does not jump, since limits of the evaluation depend on it. */
const FAULTS: readonly ChaosFault[] = [
  "throttle",
  "cut_stream",
  "malformed_arguments",
  "oversized_arguments",
  "duplicate_ids",
  "slow_tool",
  "failing_tool",
  "lying_tool",
];

async function createFaults(seed: number): Promise<Chaos> {
  const { chaos } = await importLate<typeof import("../../src/testing/mod.ts")>(
    "../../src/testing/mod.ts",
    import.meta.url,
  );
  return chaos({ seed, faults: FAULTS });
}

/** Returns the default URL of the provider, if the replayed requests were sent there. */
function findUrl({ settings: { replay }, model }: MakeAgentOptions): string | undefined {
  return replay === undefined
    ? undefined
    : findModelUrl(getModelDirectory(replay, model), model.provider);
}

interface SetupOptions extends MakeAgentOptions {
  readonly recordedUrl: string | undefined;
  readonly faults: Chaos | undefined;
}

async function createSetup(
  { getDirectory, fetch, startedAt }: EvalAgentRequest,
  { settings: { run, replay }, model, signal, recordedUrl, faults }: SetupOptions,
  host: Host,
): Promise<AgentSetup> {
  const cwd = await getDirectory();
  // No question of an evaluation is answered by keys that the user types.
  const agentHost = overrideTerminal({ ...host, fetch }, { keyboard: undefined });
  return await setUpAgent({
    ...run,
    ...(recordedUrl !== undefined && { baseUrl: recordedUrl }),
    cwd,
    model,
    permissionMode: "bypass",
    project: await loadFixtureProject(cwd),
    today: new Date(startedAt),
    needsKey: replay === undefined,
    isReplay: replay !== undefined,
    signal,
    ...(faults && { wrapStreamFn: faults.wrapStreamFn }),
  }, agentHost);
}

/** Loads the instructions and the skills of a fixture, which are part of what is evaluated. */
async function loadFixtureProject(directory: string): Promise<LoadedProject> {
  const content = listProjectContent(directory, directory);
  const project = { root: directory, directory, content, isTrusted: true };
  return await loadProject(project, undefined);
}
