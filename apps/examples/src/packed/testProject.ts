import { startProcess } from '@petstore/testing/startProcess';
import { inject, onTestFinished } from 'vitest';
import { newProject, type Project, type ProjectOptions } from './packages.ts';

/** Creates a project that is removed when the test ends. */
export async function testProject(
  packages: readonly string[],
  options: ProjectOptions = {},
): Promise<Project> {
  const project = await newProject(inject('packed'), packages, options);
  onTestFinished(() => project.remove());
  return project;
}

/**
 * Starts a process until the test ends. Resolves with what it has printed, and a `stop` that sends SIGTERM and resolves with
 * the exit code.
 * @param until what a server prints; without it, waits for the end
 */
export async function start(
  { folder }: Pick<Project, 'folder'>,
  [file = '', ...args]: readonly string[],
  until?: RegExp,
  env?: NodeJS.ProcessEnv,
) {
  const child = startProcess(file, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  onTestFinished(() => void child.kill('SIGKILL'));
  const stop = () => {
    child.kill('SIGTERM');
    return ended;
  };
  return new Promise<{ readonly text: string; readonly stop: typeof stop }>((resolve) => {
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (until?.test(text)) resolve({ text, stop });
    });
    void ended.then(() => resolve({ text, stop }));
  });
}

/** Sends a request of MCP. */
export async function callMcp(origin: string, method: string, params?: object): Promise<unknown> {
  const response = await fetch(`${origin}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return response.json();
}
