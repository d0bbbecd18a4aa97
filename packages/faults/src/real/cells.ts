import { mongodbUri } from '@petstore/testing/mongodb';
import { commandMissing } from '@petstore/testing/commandMissing';
import { hasRedis } from '@petstore/testing/redis';
import { lacksSmallDisks } from '@petstore/testing/smallDisk';
import { faults } from './faults.ts';
import {
  type Cell,
  type CellReport,
  openService,
  runCell,
  type RunOptions,
  type Service,
  serviceName,
} from './world.ts';

const servers = ['uws', 'node', 'bun'] as const;

/** Returns the cells that some options choose, of those that this machine can run. Without a choice, each has another server. */
export function cellsOf(
  chosen: { readonly [name in keyof Cell]?: string | undefined } = {},
): readonly Cell[] {
  const lacksStrace = commandMissing('strace');
  const lacksDisks = lacksSmallDisks();
  const canRun = ({ fault, state }: Cell) => {
    const { storage, usesStrace = false } = faults[state][fault] ?? {};
    if (state === 'redis' && !hasRedis) return false;
    if (state === 'mongodb' && mongodbUri === undefined) return false;
    return !(usesStrace && lacksStrace) && !(storage === 'smallDisk' && lacksDisks);
  };
  const isChosen = ({ fault, state }: Cell) =>
    (chosen.state ?? state) === state && (chosen.fault ?? fault) === fault;
  const cells: Cell[] = [];
  for (const state of ['folder', 'redis', 'mongodb'] as const)
    for (const fault of Object.keys(faults[state])) {
      const server = servers.find((each) => each === chosen.server) ?? servers[cells.length % servers.length];
      cells.push({ state, fault, server: server ?? 'node' });
    }
  return cells.filter((cell) => isChosen(cell) && canRun(cell));
}

/**
 * Runs histories of cells. Cells that can share a service run in it one after the other, the others beside them, `parallel` at a
 * time: they wait most of the time.
 * @returns the report of each, in their order
 */
export function runCells(
  cells: readonly Cell[],
  { parallel, ...options }: RunOptions & { readonly parallel: number },
): readonly Promise<CellReport>[] {
  const runs = cells.map((cell) => ({ cell, ...Promise.withResolvers<CellReport>() }));
  const waiting = [...Map.groupBy(runs, ({ cell }) => serviceName(cell)).values()];
  const runNext = async (): Promise<void> => {
    for (let group = waiting.shift(); group; group = waiting.shift()) {
      let service: Service | undefined;
      for (const { cell, reject, resolve } of group) {
        try {
          service ??= await openService(cell);
          const report = await runCell(service, cell, options);
          // After a violation, the next cell has a new one.
          const isLast = cell === group.at(-1)?.cell || report.violations.length > 0;
          const problems = isLast ? await service.end() : [];
          if (isLast) service = undefined;
          resolve({ ...report, violations: [...report.violations, ...problems] });
        } catch (error) {
          reject(error);
          await service?.end();
          service = undefined;
        }
      }
    }
  };
  for (let at = 0; at < parallel; at += 1) void runNext();
  return runs.map(({ promise }) => promise);
}
