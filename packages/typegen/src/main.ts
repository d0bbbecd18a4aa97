#!/usr/bin/env node
import { typesCommand } from './typesCommand.ts';

const { stdout = '', stderr = '', code: exitCode } = await typesCommand(process.argv.slice(2));
process.stderr.write(stderr);
// Exits explicitly: resources that the router's module has opened would keep the process alive.
process.stdout.write(stdout, () => process.exit(exitCode));
