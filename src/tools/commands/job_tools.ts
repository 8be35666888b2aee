/**
 * The `job_output` and `job_stop` tools.
 *
 * @module
 */

import { textResult } from "../../core/messages/tool_result.ts";
import { type AgentTool, defineTool } from "../../core/tools/tool.ts";
import { catchAsErrorResult } from "../kit/tool_kit.ts";
import type { BackgroundJobs, JobSnapshot } from "./background_jobs.ts";

/** Maximum wait of `job_output`. */
const MAX_WAIT_MS = 300_000;

/** Creates `job_output` and `job_stop`. */
export function jobTools(jobs: BackgroundJobs): AgentTool[] {
  return [jobOutputTool(jobs), jobStopTool(jobs)];
}

function jobOutputTool(jobs: BackgroundJobs): AgentTool {
  return defineTool({
    name: "job_output",
    label: "Job output",
    description:
      "Returns the output of a background job since the last call, and whether it still runs.",
    parameters: {
      type: "object",
      properties: {
        job_id: { type: "string" },
        wait_ms: {
          type: "integer",
          minimum: 0,
          maximum: MAX_WAIT_MS,
          description: "Milliseconds to wait for new output. Default: 0",
        },
      },
      required: ["job_id"],
      additionalProperties: false,
    },
    readOnly: true,
    concurrencyKey: ({ job_id }) => `job:${job_id}`,
    execute: catchAsErrorResult(async ({ job_id, wait_ms = 0 }, { signal }) => {
      const job = await jobs.poll(job_id, { waitMs: wait_ms, signal });
      return textResult(describeJob(job_id, job), { jobId: job_id, exit: job.exit ?? null });
    }),
  });
}

function jobStopTool(jobs: BackgroundJobs): AgentTool {
  return defineTool({
    name: "job_stop",
    label: "Stop job",
    description:
      "Stops a background job and all processes it started, and returns its last output.",
    parameters: {
      type: "object",
      properties: { job_id: { type: "string" } },
      required: ["job_id"],
      additionalProperties: false,
    },
    requiresApproval: false,
    sideEffect: "idempotent",
    concurrencyKey: ({ job_id }) => `job:${job_id}`,
    execute: catchAsErrorResult(async ({ job_id }) => {
      const job = await jobs.stop(job_id);
      return textResult(describeJob(job_id, job), { jobId: job_id, exit: job.exit ?? null });
    }),
  });
}

/** Formats a job for the model: its state, then its new output. */
export function describeJob(id: string, { output, exit }: JobSnapshot): string {
  const state = exit === undefined
    ? `Job ${id} is running`
    : `Job ${id} has ended. Exit code: ${exit.code}${
      exit.signal === null ? "" : ` (ended by ${exit.signal})`
    }`;
  return output.trim() === "" ? `${state}\n(no new output)` : `${state}\n${output.trimEnd()}`;
}
