package command

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/migrate"
	"github.com/sluicehq/sluice/cmd/sluice/shell"
)

func (e *env) migrateSourcesCommand() *cli.Command {
	return command("migrate-sources", "move the sources that pipelines declare to files of their own", "", []cli.Flag{
		repeatedFlag("Pipeline, or directory of pipelines; repeatable", "pipeline", "p"),
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "File to write, or directory for one file per pipeline"},
		shell.Choice("strategy", "How sources are spread over files", string(migrate.Single), string(migrate.PerPipeline)),
		&cli.BoolFlag{Name: "dry-run", Usage: "Print the sources and change nothing"}, configFlag(false),
	}, e.migrateSources)
}

func (e *env) migrateSources(c *cli.Context) error {
	if _, _, err := e.loadChecked(c, ""); err != nil {
		return err
	}
	strategy := migrate.Strategy(c.String("strategy"))
	switch strategy {
	case "":
		strategy = migrate.Single
	case migrate.Single, migrate.PerPipeline:
	default:
		return configFaultf("--strategy: %q is not allowed (%s, %s)", strategy, migrate.Single, migrate.PerPipeline)
	}
	out, dry := c.String("output"), c.Bool("dry-run")
	if out == "" && !dry {
		return configFaultf("no file to write is named (--output)")
	}
	if out == "" {
		out = map[migrate.Strategy]string{migrate.Single: "sources.yml", migrate.PerPipeline: "."}[strategy]
	}
	paths, err := migrate.Collect(repeated(c, "pipeline"))
	if err != nil {
		return migrateFault(err)
	}
	if len(paths) == 0 {
		return configFaultf("no pipeline file is named or found (--pipeline)")
	}
	set, err := migrate.Read(paths)
	if err != nil {
		return migrateFault(err)
	}
	sources, with := set.Count()
	if sources == 0 {
		fmt.Fprintln(e.Err, "No sources found in any pipeline file.")
		return nil
	}
	fmt.Fprintf(e.Err, "Found %d source(s) across %d pipeline(s) (%d without sources).\n", sources, with, len(paths)-with)
	files, err := set.Files(out, strategy)
	if err != nil {
		return migrateFault(err)
	}
	if dry {
		return e.printMigrated(files, strategy)
	}
	if err := migrate.Write(files); err != nil {
		return configFaultf("cannot write sources file: %w", err)
	}
	for _, f := range files {
		fmt.Fprintf(e.Err, "wrote %s\n", f.Path)
	}
	for _, err := range set.Strip() {
		e.warn(err.Error())
	}
	return nil
}

// migrateFault gives the exit code of an error of package migrate.
func migrateFault(err error) error {
	if errors.Is(err, migrate.ErrUnreadable) {
		return ruleFault(err)
	}
	return configFault(err)
}

// printMigrated prints files of sources: several as YAML documents with their names.
func (e *env) printMigrated(files []migrate.File, strategy migrate.Strategy) error {
	var b bytes.Buffer
	for _, f := range files {
		if strategy == migrate.PerPipeline {
			fmt.Fprintf(&b, "---\n# %s\n", f.Path)
		}
		b.Write(f.Data)
	}
	if _, err := e.Out.Write(b.Bytes()); err != nil {
		return configFault(fmt.Errorf("%w: %w", errWrite, err))
	}
	return nil
}
