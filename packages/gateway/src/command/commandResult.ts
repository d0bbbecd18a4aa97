/** What a command prints, and the code with which the process exits; `undefined` if it goes on running. */
export interface CommandResult {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly code: number | undefined;
}
