// SPDX-License-Identifier: GPL-2.0-only
// guest: smp=2 icount modules="governor_simpleondemand;jetwatt-sim waits=jp5;ina3221;jetwatt" timeout=150
/* Test how the module recognises waits for the GPU with JetPack 5 (see waits.inc). */
#include "waits.inc"

TEST_F(board, pollfd)
{
	both(_metadata, &self->f, "pollfd", "1", 50);
}

TEST_F(board, syncpt)
{
	both(_metadata, &self->f, "syncpt", "4", 200);
}

TEST_F(board, event)
{
	both(_metadata, &self->f, "event", "2", 100);
}

TEST_F(board, helper)
{
	both(_metadata, &self->f, "helper", "1", 50);
}

TEST_HARNESS_MAIN
