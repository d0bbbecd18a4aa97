/** Returns the processor time of this process, in milliseconds. */
export function cpuMs(): number {
  const { system, user } = process.cpuUsage();
  return (system + user) / 1000;
}
